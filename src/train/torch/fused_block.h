// A block with halting scores on CUDA, with the kernels of kernels/cuda: what network.cpp writes in
// plain operations, in a fraction of the launches and of the memory traffic.
#pragma once

#include <vector>

#include "train/torch/libtorch.h"

namespace sact::cuda {
struct HaltingRule;
}

namespace sact::train {

/// Parameters and moving averages of a batch norm.
struct NormTensors {
  torch::Tensor scale, shift, running_mean, running_var;
};

/// Parameters of a unit's halting score, all in 32 bits; `local` is undefined for ACT.
struct ScoreTensors {
  torch::Tensor local, global, bias;
  NormTensors local_norm, global_norm;
  double epsilon = 0, momentum = 0;
};

/// What the units of a block hand each other backward, past autograd, which would add it up in
/// passes over memory of its own. Autograd still calls them in order: from the block's result to
/// its first unit.
struct BlockGradients : torch::CustomClassHolder {
  torch::Tensor output;  // of the block's output
  torch::Tensor next;    // of the stream into the unit whose turn was last
  torch::Tensor images;  // [units - 1, B]: of the scores, summed over every image
  // With hard halting, [rows]: of the ponder cost, and of `active` of the unit whose turn is next.
  torch::Tensor cost, active;
};

/// The units of one block in training, one after the other.
class FusedBlock {
 public:
  /// Whether the kernels can be used for a stream like `x` through a block of `units` units.
  static bool supports(const torch::Tensor& x, int units);

  struct Rule {
    /// The halting rule's: see halting_threshold(), halting_score() and halting_slope().
    double epsilon = 0, score_floor = 0, slope_floor = 0;
    /// Whether units end with a ReLU of the sum.
    bool relu = false;
  };
  /// `like` gives shape, device and type of the stream.
  FusedBlock(const torch::Tensor& like, int units, const Rule& rule);

  /// The first unit's output, evaluated everywhere.
  torch::Tensor first(const torch::Tensor& x, const ScoreTensors& score);
  /// x + residual, or its ReLU, where active. `score` is null for the last unit.
  torch::Tensor next(const torch::Tensor& x, const torch::Tensor& residual,
                     const ScoreTensors* score);

  /// Once all units are through.
  struct Result {
    torch::Tensor output;       // the weighted sum of the units' outputs
    torch::Tensor ponder_cost;  // [B, H, W], with gradients
    torch::Tensor units;        // [B, H, W]
  };
  Result result();

 private:
  torch::Tensor take(const torch::Tensor& x, const torch::Tensor& residual,
                     const ScoreTensors& score);
  cuda::HaltingRule rule(const torch::Tensor& next_active);

  int units_, unit_ = 0;
  Rule rule_;
  bool per_image_ = false;
  c10::intrusive_ptr<BlockGradients> gradients_;
  torch::Tensor active_;   // of the unit that comes next; undefined: everywhere
  torch::Tensor state_;    // [3, rows]: cumulative, remainder, units
  torch::Tensor weights_;  // [units, rows]
  torch::Tensor ponder_cost_;
  torch::Tensor last_;                           // the last unit's stream
  std::vector<torch::Tensor> streams_, scores_;  // the streams without gradients
};

}  // namespace sact::train
