// The networks of random_model.h in LibTorch.
#pragma once

#include "support/random_model.h"
#include "train/torch/libtorch.h"
#include "train/torch/network_weights.h"
#include "train/torch/torch_runner.h"

namespace sact::test {

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
