// Networks with random weights, norms and scores that exercise every branch, and input for them.
#pragma once

#include <vector>

#include "base/random.h"
#include "model/initial_weights.h"
#include "model/model_file.h"

namespace sact::test {

inline ModelSpec tiny_spec(Halting halting, std::vector<int> units = {3, 4}) {
  ModelSpec spec;
  spec.units = std::move(units);
  spec.width = 4;
  spec.classes = 6;
  spec.halting = halting;
  return spec;
}

/// Halting scores spread over (0, 1) instead of starting near sigmoid(-3), so that positions halt
/// everywhere in a block; norms with random scales, shifts and statistics.
inline std::vector<Weight> random_weights(const ModelSpec& spec, uint64_t seed) {
  auto weights = initial_weights(
      spec, {.seed = seed, .halting_bias = -1.5, .halting_scale = spec.halting_norm ? 0.4 : 0.1});
  Random random(seed + 1);
  for (Weight& weight : weights) {
    for (float& value : weight.values) {
      if (weight.info.role == WeightRole::kNormScale) value = float(random.uniform(0.5, 1.5));
      if (weight.info.role == WeightRole::kNormShift) value = float(random.uniform(-0.5, 0.5));
      if (weight.info.role == WeightRole::kNormMean) value = float(random.uniform(-0.3, 0.3));
      if (weight.info.role == WeightRole::kNormVariance) value *= float(random.uniform(0.5, 2));
      if (weight.info.role == WeightRole::kLinearBias) value = float(random.normal());
    }
  }
  return weights;
}

/// Normal values for `count` images, [3, H, W] each.
inline std::vector<float> random_planes(int count, Size size, uint64_t seed) {
  Random random(seed);
  std::vector<float> planes(size_t(3 * count * size.positions()));
  for (float& value : planes) value = float(random.normal());
  return planes;
}

}  // namespace sact::test
