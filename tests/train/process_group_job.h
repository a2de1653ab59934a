// What the test of several processes and the processes themselves both compute.
#pragma once

#include "train/random_network.h"

namespace sact::test {

/// In 64 bits, so that sums in another order agree closely.
inline train::Network job_network() {
  ModelSpec spec = tiny_spec(Halting::kSact, {3, 2});
  spec.stem = Stem::kSmall;
  train::Network network = random_network(spec, 3);
  network->to(torch::kFloat64);
  network->train();
  return network;
}

constexpr int64_t kJobImages = 6;

inline torch::Tensor job_images() {
  return random_images(kJobImages, 32, 32, 4).to(torch::kFloat64);
}

/// Leaves the gradients in the network; the loss has all terms of training.
inline void job_backward(train::Network network, const torch::Tensor& images,
                         const torch::Tensor& labels) {
  const train::NetworkOutput output = network->forward(images);
  (torch::cross_entropy_loss(output.logits, labels) + 0.1 * ponder_penalty(output)).backward();
}

inline torch::Tensor job_labels() {
  return torch::arange(kJobImages);
}

/// Gradients of all parameters, or moving averages, end to end.
inline torch::Tensor joined_gradients(train::Network network) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor& parameter : network->parameters()) {
    flat.push_back(parameter.grad().reshape({-1}));
  }
  return torch::cat(flat);
}

inline torch::Tensor joined_averages(train::Network network) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor& buffer : network->buffers()) {
    if (buffer.is_floating_point()) flat.push_back(buffer.reshape({-1}));
  }
  return torch::cat(flat);
}

}  // namespace sact::test
