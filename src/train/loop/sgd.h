// Stochastic gradient descent with momentum and weight decay, over all parameters at once.
#pragma once

#include <string>
#include <vector>

#include "train/torch/libtorch.h"

namespace sact::train {

struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool decay_norms = true;  // also norms and biases: parameters of one dimension
  double clip_norm = 0;     // 0: no limit
  double halting_rate = 1;  // factor of the rate for parameters of halting scores
};

/// v = momentum v + g + decay w; w = w - rate v, for halting scores w - halting_rate rate v. Lists
/// of tensors go to one kernel each, because launching one per parameter takes longer than the
/// arithmetic.
class Sgd {
 public:
  /// Parameters that require no gradient stay as they are.
  Sgd(torch::OrderedDict<std::string, torch::Tensor> parameters, SgdOptions options);

  /// One step from the gradients; returns their norm before clipping (waits for the device only
  /// when there is a limit, and returns -1 otherwise).
  double step(double rate);
  void zero_gradients();

  /// The gradients of all parameters; one that has none gets zeros.
  std::vector<torch::Tensor> gradients();

  /// Momentum buffers by parameter name, for checkpoints. They start at zero.
  torch::OrderedDict<std::string, torch::Tensor> state() const;

 private:
  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_, velocities_;
  std::vector<torch::Tensor> decayed_;  // the parameters with weight decay
  std::vector<size_t> decayed_index_;
  /// Parameters and their velocities, by the factor of their rate.
  struct Group {
    double factor;
    std::vector<torch::Tensor> parameters, velocities;
  };
  Group& group_of(double factor);
  std::vector<Group> groups_;
  SgdOptions options_;
};

}  // namespace sact::train
