// A network prepared for a GPU: folded weights in its memory. It depends on the model alone;
// sessions share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/device.h"
#include "engine/cuda/panels.h"
#include "engine/folding.h"
#include "kernels/cuda/inference/calls.h"

namespace sact::engine {

/// A norm on the device; null where there is none.
struct DeviceNorm {
  const float *scale = nullptr, *shift = nullptr;
  const void* packed = nullptr;  // for tensor cores; their weights have a part of the scale
};

/// A convolution on the device; see cuda::Product.
struct DeviceLayer {
  std::string name;
  int kernel = 1, stride = 1, depth = 0, columns = 0;
  Domain domain = Domain::kDense;
  bool relu = false;  // after it
  const float* weights = nullptr;
  const void* panels = nullptr;
  const float* bias = nullptr;
};

/// A halting score before its sigmoid; see FoldedScore.
struct DeviceScore {
  std::string name;
  const float* taps = nullptr;  // null for ACT
  const float* tap_shifts = nullptr;
  const float* global = nullptr;
  const void* panels = nullptr;  // for tensor cores; null: there are none
  float shift = 0;
};

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
  WeightMemory memory;
  std::optional<DeviceLayer> stem;
  std::vector<std::vector<DeviceUnit>> blocks;
  std::optional<DeviceHead> head;  // none where features leave

 private:
  DeviceNorm put_norm(const Affine& norm);
  bool has_tensor_cores() const;
  /// Whether a layer can run on tensor cores.
  bool packs(const ConvStep& step) const;
  /// Operands are rounded to the element type. `before` is the norm that rows get when they are
  /// read, or null.
  DeviceLayer put_layer(const FoldedLayer& folded, const Affine* before);
  DeviceScore put_score(const FoldedScore& folded);
  DeviceUnit put_unit(const UnitSteps& steps, const Folding& folding);
};

}  // namespace sact::engine
