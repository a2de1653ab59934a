// A network prepared for a GPU: folded weights in its memory. It depends on the model alone;
// sessions share it.
#pragma once

#include <optional>
#include <vector>

#include "engine/cuda/device_layers.h"
#include "engine/cuda/tile_tuning.h"

namespace sact::engine {

/// A residual unit; see UnitSteps.
struct DeviceUnit {
  DeviceNorm preactivation;
  std::optional<DeviceLayer> shortcut;
  std::vector<DeviceLayer> layers;
  bool relu = false;  // after the sum
  std::optional<DeviceScore> score;

  bool bottleneck() const { return layers.size() == 3; }
};

struct DeviceHead {
  DeviceNorm norm;
  std::string name;
  int depth = 0, columns = 0;
  const float *weights = nullptr, *bias = nullptr;  // [columns, depth]
};

struct CudaPlan {
  CudaPlan(const ModelSpec& spec, const WeightSource& weights, cuda::Element type,
           const DeviceFacts& device);

  ModelSpec spec;
  cuda::Element type;
  DeviceFacts device;
  LayerMemory memory;
  std::optional<DeviceLayer> stem;
  std::vector<std::vector<DeviceUnit>> blocks;
  std::optional<DeviceHead> head;  // none where features leave
  mutable TunedShapes shapes;      // of all sessions

 private:
  DeviceUnit put_unit(const UnitSteps& steps, const Folding& folding);
};

}  // namespace sact::engine
