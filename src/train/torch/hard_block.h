// A block in training with hard halting and frozen norms on CUDA, with the kernels of kernels/cuda:
// what NetworkImpl::run_hard_block() writes in plain operations. The formulas: halting/hard.h.
#pragma once

#include "train/torch/fused_block.h"

namespace sact::cuda {
struct HardRule;
}

namespace sact::train {

/// What a unit's score has decided on the unit after it.
struct HardDecisionTensors {
  ScoreTensors score;
  torch::Tensor workspace;
  torch::Tensor was_active;  // of the unit before; undefined: everywhere
  torch::Tensor active;      // [rows]
  torch::Tensor z;           // [rows]
};

/// The units of one block in training, one after the other. Scores must be of one position each
/// (SACT, no tiles) and have frozen norms; of their parameters local, global and bias learn.
class HardBlock {
 public:
  /// Whether the kernels can be used for a stream like `x` through a block of `units` units.
  static bool supports(const torch::Tensor& x, int units) { return FusedBlock::supports(x, units); }

  struct Rule {
    double threshold = 0, steepness = 1;  // see HardHalting
    bool relu = false;                    // whether units end with a ReLU of the sum
  };
  /// `like` gives shape, device and type of the stream. `noise` [B, (units - 1) H W], or none.
  HardBlock(const torch::Tensor& like, int units, const Rule& rule, const torch::Tensor& noise);

  /// The first unit's output, evaluated everywhere.
  torch::Tensor first(const torch::Tensor& x, const ScoreTensors& score);
  /// x + residual, or its ReLU, where the last score lets it go on. `score` is null for the last
  /// unit.
  torch::Tensor next(const torch::Tensor& x, const torch::Tensor& residual,
                     const ScoreTensors* score);

  /// Once all units are through.
  FusedBlock::Result result();

 private:
  /// Memory for what the score decides on the next unit.
  HardDecisionTensors decided_by(const ScoreTensors& score) const;
  cuda::HardRule rule(const HardDecisionTensors& next) const;

  int units_, unit_ = 0;  // that whose turn it is
  Rule rule_;
  std::vector<int64_t> maps_;  // [B, H, W]
  torch::Tensor noise_;
  torch::Tensor count_;  // [rows]: N so far
  int64_t workspace_floats_ = 0;
  HardDecisionTensors decision_;  // on that unit
  torch::Tensor last_;            // the stream after it
  c10::intrusive_ptr<BlockGradients> gradients_;
};

}  // namespace sact::train
