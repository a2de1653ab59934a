// The share of the dense network's FLOPs that a batch took, on the device and without waiting for
// it.
#pragma once

#include <vector>

#include "model/spec.h"
#include "train/torch/network.h"

namespace sact::train {

class FlopsShare {
 public:
  /// Of an adaptive network on images of one size.
  FlopsShare(const ModelSpec& spec, Size image);

  /// Where nothing halts: more than 1, as scores cost something.
  double full() const;
  /// adaptive_flops() over dense_flops() of every image of the batch, [B]. An image that is smaller
  /// than the batch has the share of its own positions.
  torch::Tensor of_images(const std::vector<BlockOutput>& blocks) const;
  /// Their mean: a scalar.
  torch::Tensor of(const std::vector<BlockOutput>& blocks) const;

  /// The blocks' ponder costs, each the mean over batch and positions, weighted by the FLOPs of a
  /// unit and added up; the weights are 1 in the mean. In residual networks of the usual shape all
  /// units cost the same, and this is ponder_penalty().
  torch::Tensor ponder_cost(const std::vector<BlockOutput>& blocks) const;

 private:
  /// Shares of one unit where every position is active.
  struct Unit {
    double active = 0, dilated = 0;  // of what is evaluated on the active set, on its dilation
    double once = 0;                 // of what is evaluated once where any position is active
  };

  double always_ = 0;  // stem, head and the first units
  std::vector<std::vector<Unit>> units_;
  std::vector<double> weights_;  // of the blocks' ponder costs
};

}  // namespace sact::train
