// Layers of a network in the memory of a GPU, as its kernels read them.
#pragma once

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

/// Puts layers there one after the other, their operands rounded to the element type.
class LayerMemory {
 public:
  explicit LayerMemory(cuda::Element type) : type_(type) {}

  DeviceNorm put_norm(const Affine& norm);
  /// `before` is the norm that rows get when they are read, or null.
  DeviceLayer put_layer(const FoldedLayer& folded, const Affine* before = nullptr);
  DeviceScore put_score(const FoldedScore& folded);
  const float* put(const std::vector<float>& values) { return memory_.put(values); }
  /// Until all are there.
  void wait() const { memory_.wait(); }

 private:
  bool has_tensor_cores() const;
  /// Whether a layer can run on tensor cores.
  bool packs(const ConvStep& step) const;

  cuda::Element type_;
  WeightMemory memory_;
};

/// A product of rows of one grid that leads to another, by such a layer; all rows of it.
cuda::Product product_of(const DeviceLayer& layer, const cuda::GridShape& from,
                         const cuda::GridShape& to, const void* input);

}  // namespace sact::engine
