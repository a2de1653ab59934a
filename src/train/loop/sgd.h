// Stochastic gradient descent with momentum, or Adam, with weight decay, over all parameters at
// once.
#pragma once

#include <string>
#include <vector>

#include "train/torch/libtorch.h"

namespace sact::train {

struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool decay_norms = true;    // also norms and biases: parameters of one dimension
  double clip_norm = 0;       // 0: no limit
  double halting_rate = 1;    // factor of the rate for parameters of halting scores
  bool decay_halting = true;  // weight decay also on these
  bool adam = false;
};

/// For a network with steep halting scores. What is learned is what they are the sigmoids of before
/// the factor: its gradients are larger by it, and its steps smaller. Adam's steps have one size.
void descend_with_steep_scores(SgdOptions& options, double steepness);

/// v = momentum v + g + decay w; w = w - rate v, for halting scores w - halting_rate rate v.
///
/// Adam: v = momentum v + (1 - momentum) g and s = 0.99 s + 0.01 g^2, both over one minus their
/// factors to the power of the steps; w = w - rate (v / (sqrt(s) + 1e-8) + decay w), for halting
/// scores with halting_rate rate over the number of a tensor's elements.
///
/// Lists of tensors go to one kernel each, because launching one per parameter takes longer than
/// the arithmetic.
class Sgd {
 public:
  /// Parameters that require no gradient stay as they are.
  Sgd(torch::OrderedDict<std::string, torch::Tensor> parameters, SgdOptions options);

  /// One step from the gradients, the `step`-th (from 0), which Adam must know; returns their norm
  /// before clipping (waits for the device only when there is a limit, and returns -1 otherwise).
  double step(double rate, int64_t step = 0);
  void zero_gradients();

  /// The gradients of all parameters; one that has none gets zeros.
  std::vector<torch::Tensor> gradients();

  /// Momentum buffers by parameter name, and Adam's mean squares under "square/", for checkpoints.
  /// They start at zero.
  torch::OrderedDict<std::string, torch::Tensor> state() const;

 private:
  double clip(const std::vector<torch::Tensor>& gradients) const;
  void descend(const std::vector<torch::Tensor>& gradients, double rate);
  void descend_adam(const std::vector<torch::Tensor>& gradients, double rate, int64_t step);

  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, velocities_, squares_;
  std::vector<torch::Tensor> decayed_;  // the parameters with weight decay
  std::vector<size_t> decayed_index_;
  /// Parameters, those of them with weight decay, and what is kept of them, by the factor of their
  /// rate.
  struct Group {
    double factor;
    std::vector<torch::Tensor> parameters, velocities, squares, decayed;
  };
  Group& group_of(double factor);
  std::vector<Group> groups_;
  SgdOptions options_;
};

}  // namespace sact::train
