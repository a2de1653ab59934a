#include "engine/folding.h"

#include <cmath>

#include "base/error.h"
#include "model/detection.h"

namespace sact::engine {

WeightSource box_weights(const ModelSpec& detector, const WeightSource& weights) {
  return [&](WeightInfo info) {
    info.name = box_weight_name(detector, info.name);
    return weights(info);
  };
}

void FoldedLayer::scale_weights() {
  if (scales.empty()) return;
  const size_t inputs = weights.size() / scales.size();
  for (size_t out = 0; out < scales.size(); ++out) {
    float* row = weights.data() + out * inputs;
    for (size_t i = 0; i < inputs; ++i) row[i] *= scales[out];
  }
  scales.clear();
}

Folding::Folding(const ModelSpec& spec, const WeightSource& weights)
    : architecture_(spec), norm_epsilon_(spec.norm_epsilon), weights_(weights) {
  for (const WeightInfo& info : weight_list(spec)) infos_.emplace(info.name, info);
}

Affine Folding::norm(const NormStep& step) const {
  Affine affine{values(step.name + ".weight"), values(step.name + ".bias")};
  const std::vector<float> mean = values(step.name + ".running_mean");
  const std::vector<float> variance = values(step.name + ".running_var");
  for (size_t c = 0; c < mean.size(); ++c) {
    affine.scale[c] = float(affine.scale[c] / std::sqrt(double(variance[c]) + norm_epsilon_));
    affine.shift[c] -= affine.scale[c] * mean[c];
  }
  return affine;
}

FoldedLayer Folding::unscaled_layer(const ConvStep& step) const {
  SACT_ASSERT(!(step.norm && step.bias));
  FoldedLayer layer{step, values(step.name + ".weight"), {}, {}};
  if (step.norm) {
    Affine after = norm(*step.norm);
    layer.scales = std::move(after.scale);
    layer.bias = std::move(after.shift);
  } else {
    layer.bias = step.bias ? values(step.name + ".bias") : std::vector<float>(size_t(step.out));
  }
  return layer;
}

FoldedLayer Folding::layer(const ConvStep& step) const {
  FoldedLayer layer = unscaled_layer(step);
  layer.scale_weights();
  return layer;
}

FoldedScore Folding::score(const HaltingStep& step) const {
  const size_t channels = size_t(step.channels);
  const auto folded = [&](const NormStep& norm_step) {
    if (step.norms) return norm(norm_step);
    return Affine{std::vector<float>(channels, 1.0f), std::vector<float>(channels, 0.0f)};
  };
  FoldedScore score;
  score.step = step;
  const Affine global_norm = folded(step.global_norm());
  score.global = values(step.global_name() + ".weight");
  double shift = values(step.global_name() + ".bias")[0];
  for (size_t c = 0; c < channels; ++c) {
    shift += double(score.global[c]) * global_norm.shift[c];
    score.global[c] *= global_norm.scale[c];
  }
  score.shift = float(shift);
  if (!step.local) return score;
  const Affine local_norm = folded(step.local_norm());
  const std::vector<float> local = values(step.local_name() + ".weight");  // [1, C, 3, 3]
  score.taps.resize(local.size());
  for (size_t tap = 0; tap < FoldedScore::kTaps; ++tap) {
    double tap_shift = 0;
    for (size_t c = 0; c < channels; ++c) {
      const float weight = local[c * FoldedScore::kTaps + tap];
      tap_shift += double(weight) * local_norm.shift[c];
      score.taps[tap * channels + c] = weight * local_norm.scale[c];
    }
    score.tap_shifts[tap] = float(tap_shift);
  }
  return score;
}

std::vector<float> Folding::values(const std::string& name) const {
  const auto found = infos_.find(name);
  SACT_ASSERT(found != infos_.end());
  return weights_(found->second);
}

}  // namespace sact::engine
