// One step of training: forward, loss, backward, update.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "train/checkpoint.h"
#include "train/network.h"
#include "train/processes.h"
#include "train/sgd.h"

namespace sact::train {

/// Sums over the epoch under way, kept on the device so that a step need not wait for it.
class EpochSums {
 public:
  EpochSums(const Progression& progression, int blocks, torch::Device device);

  /// Adds a batch: its mean losses, its correct answers, and the largest N of each block.
  void add(const torch::Tensor& loss, const torch::Tensor& entropy, const torch::Tensor& correct,
           int64_t count, const NetworkOutput& output);
  /// The sums of all processes. Waits for them and for the device.
  void store(Progression& progression, Processes& processes) const;
  /// Whether all losses of all processes are finite; likewise.
  bool finite(Processes& processes) const;

 private:
  torch::Tensor sums_;        // float64: loss, cross-entropy, correct
  torch::Tensor most_units_;  // of each block: largest N so far
};

struct StepOptions {
  double label_smoothing = 0;
  double tau = 0;
  bool bf16 = false;
  /// Called when the gradients are there and before they are used: several processes average them.
  std::function<void()> after_backward = {};
};

class TrainingStep {
 public:
  TrainingStep(Network network, Sgd& sgd, StepOptions options);

  /// `images` [B, 3, H, W], augmented and normalised; `labels` [B].
  void run(const torch::Tensor& images, const torch::Tensor& labels, double rate, EpochSums& sums);

 private:
  Network network_;
  Sgd& sgd_;
  StepOptions options_;
};

}  // namespace sact::train
