// One step of training: forward, loss, backward, update.
#pragma once

#include <functional>
#include <memory>

#include "train/loop/checkpoint.h"
#include "train/loop/sgd.h"
#include "train/torch/libtorch.h"
#include "train/torch/network.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// What one step adds to the sums of its epoch, on the device.
struct StepResult {
  /// float64: loss, cross-entropy and ponder cost times images, correct answers.
  torch::Tensor sums;
  torch::Tensor most_units;  // float32, of each block: largest N
};

/// The losses of the epoch so far, of all group.
struct LossSums {
  double loss = 0, entropy = 0, ponder = 0, correct = 0;
};

/// Sums over the epoch under way, kept on the device so that a step need not wait for it.
class EpochSums {
 public:
  EpochSums(const Progression& progression, int blocks, torch::Device device);

  void add(const StepResult& result);
  /// The sums of all group. Waits for them and for the device.
  void store(Progression& progression, ProcessGroup& group) const;
  /// The losses alone; likewise. Not finite where any was not.
  LossSums losses(ProcessGroup& group) const;

 private:
  StepResult total_;
};

struct StepOptions {
  double label_smoothing = 0;
  double tau = 0;
  bool bf16 = false;
  /// On CUDA: record the kernels of a step once and replay them. Launching them one by one takes
  /// longer than running them.
  bool graph = true;
  /// Called when the gradients are there and before they are used: several processes average them.
  std::function<void()> after_backward = {};
};

class StepGraph;

class TrainingStep {
 public:
  TrainingStep(Network network, Sgd& sgd, StepOptions options);
  ~TrainingStep();

  /// `images` [B, 3, H, W], augmented and normalised; `labels` [B]. The result is valid until the
  /// next step.
  StepResult run(const torch::Tensor& images, const torch::Tensor& labels, double rate);
  /// Changes the weight of the ponder cost, that of a recorded step too.
  void set_tau(double tau);

 private:
  StepResult forward_backward(const torch::Tensor& images, const torch::Tensor& labels);

  Network network_;
  Sgd& sgd_;
  StepOptions options_;
  torch::Tensor tau_;  // on the device, so that a recorded step reads what it is now
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace sact::train
