#include "engine/cuda/plan.h"

#include "base/error.h"

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

bool CudaPlan::has_tensor_cores() const {
  return type != cuda::Element::kFloat32;  // open_device() takes no GPU without
}

bool CudaPlan::packs(const ConvStep& step) const {
  return has_tensor_cores() && step.in % 64 == 0 && step.out % 64 == 0 &&
         (step.kernel == 1 || step.kernel == 3);
}

DeviceNorm CudaPlan::put_norm(const Affine& norm) {
  DeviceNorm put{memory.put(norm.scale), memory.put(norm.shift)};
  if (!has_tensor_cores() || norm.scale.size() % 64 != 0) return put;
  const PackedNorm packed = pack_norm(norm, type);
  put.packed = memory.put(packed.pairs.data(), packed.pairs.size() * sizeof(uint32_t));
  return put;
}

DeviceLayer CudaPlan::put_layer(const FoldedLayer& folded, const Affine* before) {
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
      const std::vector<float> factors = pack_norm(*before, type).weight_factors;
      for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i / size_t(step.out)];
    }
    panels = pack_panels(scaled, step.kernel * step.kernel, step.out, type);
  } else if (has_tensor_cores() && step.in == 3 && step.kernel == 7 && step.stride == 2 &&
             step.out % 64 == 0) {
    panels = pack_panels(stem_depths(folded.weights, step.out), 1, step.out, type);
  }
  if (!panels.empty()) layer.panels = memory.put(panels.data(), panels.size() * sizeof(uint16_t));
  for (float& weight : weights) weight = rounded_to(weight, type);
  layer.weights = memory.put(weights);
  layer.bias = memory.put(folded.bias);
  return layer;
}

DeviceScore CudaPlan::put_score(const FoldedScore& folded) {
  DeviceScore score;
  score.name = folded.step.name;
  score.global = memory.put(folded.global);
  score.shift = folded.shift;
  if (has_tensor_cores() && folded.step.channels % 64 == 0) {
    const std::vector<uint16_t> panels = pack_score(folded, type);
    score.panels = memory.put(panels.data(), panels.size() * sizeof(uint16_t));
  }
  if (folded.taps.empty()) return score;
  score.taps = memory.put(folded.taps);
  score.tap_shifts = memory.put({folded.tap_shifts.begin(), folded.tap_shifts.end()});
  return score;
}

DeviceUnit CudaPlan::put_unit(const UnitSteps& steps, const Folding& folding) {
  DeviceUnit unit;
  std::optional<Affine> norm;
  if (steps.preactivation) {
    norm = folding.norm(*steps.preactivation);
    unit.preactivation = put_norm(*norm);
  }
  // Windows need their operands normalised before, because they reach beyond the image.
  const Affine* before = norm && steps.convolutions[0].kernel == 1 ? &*norm : nullptr;
  if (steps.shortcut) unit.shortcut = put_layer(folding.layer(*steps.shortcut), before);
  for (size_t i = 0; i < steps.convolutions.size(); ++i) {
    unit.layers.push_back(
        put_layer(folding.layer(steps.convolutions[i]), i == 0 ? before : nullptr));
  }
  SACT_ASSERT(unit.layers.size() == (unit.layers[0].kernel == 1 ? 3u : 2u));
  unit.relu = steps.relu;
  if (steps.halting) unit.score = put_score(folding.score(*steps.halting));
  return unit;
}

CudaPlan::CudaPlan(const ModelSpec& model, const WeightSource& weights, cuda::Element elements,
                   const DeviceFacts& facts)
    : spec(model), type(elements), device(facts) {
  SACT_ASSERT(!spec.detection);  // its parts are networks; see model/detection.h
  const Folding folding(spec, weights);
  const Architecture& architecture = folding.architecture();
  if (architecture.stem) {
    stem = put_layer(folding.layer(architecture.stem->convolution), nullptr);
  }
  for (const auto& block : architecture.blocks) {
    blocks.emplace_back();
    for (const UnitSteps& unit : block) blocks.back().push_back(put_unit(unit, folding));
  }
  if (architecture.head) {
    const FoldedLayer linear = folding.layer(architecture.head->linear);
    head.emplace();
    if (architecture.head->norm) head->norm = put_norm(folding.norm(*architecture.head->norm));
    head->name = linear.step.name;
    head->depth = linear.step.in;
    head->columns = linear.step.out;
    head->weights = memory.put(linear.weights);
    head->bias = memory.put(linear.bias);
  }
  memory.wait();
}

}  // namespace sact::engine
