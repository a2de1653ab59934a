// One step of training a classifier: forward, loss, backward.
#pragma once

#include <memory>

#include "train/torch/libtorch.h"
#include "train/torch/network.h"

namespace sact::train {

/// The sums of a step: times images, but for the correct answers.
enum ClassifierSum : size_t { kLossSum, kEntropySum, kPonderSum, kCorrectSum };

/// What one step adds to the sums of its epoch, on the device.
struct StepResult {
  torch::Tensor sums;        // float64, as ClassifierSum
  torch::Tensor most_units;  // float32, of each block: largest N
};

struct StepOptions {
  double label_smoothing = 0;
  double tau = 0;
  bool bf16 = false;
  /// On CUDA: record the kernels of a step once and replay them. Launching them one by one takes
  /// longer than running them.
  bool graph = true;
};

class StepGraph;

class TrainingStep {
 public:
  TrainingStep(Network network, StepOptions options);
  ~TrainingStep();

  /// `images` [B, 3, H, W], augmented and normalised; `labels` [B]. Leaves the gradients in the
  /// parameters, which must have none before. The result is valid until the next step.
  StepResult run(const torch::Tensor& images, const torch::Tensor& labels);
  /// Changes the weight of the ponder cost, that of a recorded step too.
  void set_tau(double tau);

 private:
  StepResult forward_backward(const torch::Tensor& images, const torch::Tensor& labels);

  Network network_;
  StepOptions options_;
  torch::Tensor tau_;  // on the device, so that a recorded step reads what it is now
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace sact::train
