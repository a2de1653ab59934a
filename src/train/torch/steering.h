// The weight of the ponder cost, steered so that the network comes to take a share of FLOPs.
#pragma once

#include <optional>

#include "train/torch/libtorch.h"

namespace sact::train {

struct SteeringOptions {
  double gain = 0;  // growth of log tau in a step for each share too much
  double tau = 0, tau_max = 1;
};

/// tau = exp(z + 10 e), where e is the running mean of share - budget and z grows by gain e in
/// every step: the sum of all excess finds the weight that holds the budget, and the second term
/// keeps it from overshooting, as the network answers late. All of it stays on the device, in
/// buffers, so that no step waits and checkpoints hold it.
class SteeringImpl : public torch::nn::Module {
 public:
  explicit SteeringImpl(const SteeringOptions& options);

  /// Weighs from now on with this.
  void set_tau(double tau) { tau_.fill_(tau); }
  /// Takes the share of the last step into account; `first`: it is the first that counts.
  /// `budget` is the share that is wanted now.
  void update(double budget, bool first);

  /// [1], read by a step that may be recorded.
  const torch::Tensor& tau() const { return tau_; }
  /// [1]: the share of FLOPs of the last step, the mean over all processes by the next update().
  torch::Tensor& share() { return share_; }
  /// [1]: the share at the start of the run, from which the budget falls.
  torch::Tensor& first_share() { return first_share_; }
  /// The last step was the first of the run.
  void note_first_share();
  /// Waits for the device when it is first asked.
  double known_first_share();

 private:
  SteeringOptions options_;
  torch::Tensor tau_, share_, mean_share_, log_tau_, first_share_;
  std::optional<double> known_first_share_;
};
TORCH_MODULE(Steering);

}  // namespace sact::train
