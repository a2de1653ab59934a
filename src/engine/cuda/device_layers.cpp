#include "engine/cuda/device_layers.h"

namespace sact::engine {
namespace {

/// [taps * in, out] of [out, in, taps].
std::vector<float> transposed(const FoldedLayer& folded) {
  const size_t in = size_t(folded.step.in), out = size_t(folded.step.out);
  const size_t taps = folded.weights.size() / in / out;
  std::vector<float> weights(folded.weights.size());
  for (size_t o = 0; o < out; ++o) {
    for (size_t c = 0; c < in; ++c) {
      for (size_t tap = 0; tap < taps; ++tap) {
        weights[(tap * in + c) * out + o] = folded.weights[(o * in + c) * taps + tap];
      }
    }
  }
  return weights;
}

}  // namespace

bool LayerMemory::has_tensor_cores() const {
  return type_ != cuda::Element::kFloat32;  // open_device() takes no GPU without
}

bool LayerMemory::packs(const ConvStep& step) const {
  return has_tensor_cores() && step.in % 64 == 0 && step.out % 64 == 0 &&
         (step.kernel == 1 || step.kernel == 3);
}

DeviceNorm LayerMemory::put_norm(const Affine& norm) {
  DeviceNorm put{memory_.put(norm.scale), memory_.put(norm.shift)};
  if (!has_tensor_cores() || norm.scale.size() % 64 != 0) return put;
  const PackedNorm packed = pack_norm(norm, type_);
  put.packed = memory_.put(packed.pairs.data(), packed.pairs.size() * sizeof(uint32_t));
  return put;
}

DeviceLayer LayerMemory::put_layer(const FoldedLayer& folded, const Affine* before) {
  const ConvStep& step = folded.step;
  DeviceLayer layer;
  layer.name = step.name;
  layer.kernel = step.kernel;
  layer.stride = step.stride;
  layer.depth = step.in;
  layer.columns = step.out;
  layer.domain = step.domain;
  layer.relu = step.relu;
  std::vector<float> weights = transposed(folded);
  std::vector<uint16_t> panels;
  if (packs(step)) {
    std::vector<float> scaled = weights;
    if (before) {
      const std::vector<float> factors = pack_norm(*before, type_).weight_factors;
      for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i / size_t(step.out)];
    }
    panels = pack_panels(scaled, step.kernel * step.kernel, step.out, type_);
  } else if (has_tensor_cores() && step.in == 3 && step.kernel == 7 && step.stride == 2 &&
             step.out % 64 == 0) {
    panels = pack_panels(stem_depths(folded.weights, step.out), 1, step.out, type_);
  }
  if (!panels.empty()) layer.panels = memory_.put(panels.data(), panels.size() * sizeof(uint16_t));
  for (float& weight : weights) weight = rounded_to(weight, type_);
  layer.weights = memory_.put(weights);
  layer.bias = memory_.put(folded.bias);
  return layer;
}

DeviceScore LayerMemory::put_score(const FoldedScore& folded) {
  DeviceScore score;
  score.name = folded.step.name;
  score.global = memory_.put(folded.global);
  score.shift = folded.shift;
  if (has_tensor_cores() && folded.step.channels % 64 == 0) {
    const std::vector<uint16_t> panels = pack_score(folded, type_);
    score.panels = memory_.put(panels.data(), panels.size() * sizeof(uint16_t));
  }
  if (folded.taps.empty()) return score;
  score.taps = memory_.put(folded.taps);
  score.tap_shifts = memory_.put({folded.tap_shifts.begin(), folded.tap_shifts.end()});
  return score;
}

cuda::Product product_of(const DeviceLayer& layer, const cuda::GridShape& from,
                         const cuda::GridShape& to, const void* input) {
  cuda::Product call;
  call.rows.most = to.rows();
  call.from = from;
  call.to = to;
  call.kernel = layer.kernel;
  call.stride = layer.stride;
  call.input = input;
  call.input_stride = call.depth = layer.depth;
  call.weights = layer.weights;
  call.panels = layer.panels;
  call.bias = layer.bias;
  call.columns = layer.columns;
  call.output_stride = layer.columns;
  call.relu = layer.relu;
  return call;
}

}  // namespace sact::engine
