// Networks with random weights, norms and scores that exercise every branch.
#pragma once

#include <torch/torch.h>

#include "base/random.h"
#include "model/initial_weights.h"
#include "train/network_weights.h"
#include "train/torch_runner.h"

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

inline train::Network random_network(const ModelSpec& spec, uint64_t seed) {
  return train::make_network(spec, random_weights(spec, seed));
}

/// FLOPs of every image of the batch, given the size of the images.
inline std::vector<int64_t> image_flops(const ModelSpec& spec, const train::NetworkOutput& output,
                                        Size size) {
  std::vector<int64_t> flops;
  for (const ImageResult& result : train::results_of(spec, output, size)) {
    flops.push_back(result.flops);
  }
  return flops;
}

inline torch::Tensor random_images(int64_t count, int64_t height, int64_t width, uint64_t seed) {
  torch::Tensor images = torch::empty({count, 3, height, width});
  Random random(seed);
  float* data = images.data_ptr<float>();
  for (int64_t i = 0; i < images.numel(); ++i) data[i] = float(random.normal());
  return images;
}

}  // namespace sact::test
