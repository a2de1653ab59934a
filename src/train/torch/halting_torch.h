// The halting rule in differentiable form, for batches of maps. The rule itself is
// halting/halting.h; the tests hold this to it.
#pragma once

#include "train/torch/libtorch.h"

namespace sact::train {

/// Follows a block of units over maps [B, 1, H, W] (SACT) or [B, 1, 1, 1] (ACT).
///
/// Which positions are active is a constant of the graph, as is N. The remainder carries gradients:
/// R = 1 - sum of the scores before the last, and so d rho / d h^l = -1 for l < N and 0 otherwise.
class HaltingTracker {
 public:
  /// `like` gives shape, device and type, which is 32 bits at least. Where `outside` (boolean; may
  /// be undefined) is true nothing is ever active, and the ponder cost is 0.
  HaltingTracker(const torch::Tensor& like, double epsilon, const torch::Tensor& outside = {});

  /// Takes the scores of the unit just evaluated and returns the weights p of its output, zero
  /// where a position had halted before. For the last unit use `last_step`.
  torch::Tensor step(const torch::Tensor& score);
  torch::Tensor last_step();

  /// Positions that go on to the next unit (boolean).
  const torch::Tensor& active() const { return active_; }
  /// The sums of scores so far, where positions are active.
  const torch::Tensor& cumulative() const { return cumulative_; }
  /// Whether any position of any image is active. Waits for the device.
  bool any_active() const;

  torch::Tensor ponder_cost() const { return units_ + remainder_at_halt_; }  // rho = N + R
  const torch::Tensor& units() const { return units_; }                      // N, as float

 private:
  double threshold_;
  torch::Tensor active_, cumulative_, remainder_, remainder_at_halt_, units_;
};

/// The tensor in 32 bits where it had fewer: sums of scores must not be rounded to 8 bits.
torch::Tensor at_least_float32(const torch::Tensor& tensor);

/// halting_score() of the sigmoid of `argument`, with the gradient of halting_slope().
torch::Tensor halting_score(const torch::Tensor& argument, double score_floor, double slope_floor);

/// Scores for training that are 1 where `argument` is above 0, and 0 elsewhere. Their gradient is
/// that of the sigmoid of `argument`, as if there were no threshold.
torch::Tensor hard_score(const torch::Tensor& argument);

/// Averages scores [B, 1, H, W] over tiles of `tile` x `tile` positions; see average_tiles().
torch::Tensor average_tiles(const torch::Tensor& scores, int tile);

}  // namespace sact::train
