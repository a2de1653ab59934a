// The network as LibTorch modules: the reference for every other back end, and what is trained.
#pragma once

#include <optional>
#include <vector>

#include "halting/control.h"
#include "model/architecture.h"
#include "model/hard_budget.h"
#include "train/torch/fused_block.h"
#include "train/torch/halting_torch.h"
#include "train/torch/image_areas.h"
#include "train/torch/libtorch.h"
#include "train/torch/norm.h"

namespace sact::train {

/// What of a block's maps is padding; all undefined where every image fills the batch.
struct BlockArea {
  torch::Tensor entering;   // [B, 1, H, W], of what enters the block: true at padding
  torch::Tensor outside;    // likewise inside of the block
  torch::Tensor positions;  // [B]: those of an image in it
};

/// H(x): the halting score of a unit, of the sigmoid of W~ * n'(x) + W n(pool(x)) + b, without the
/// first term for ACT.
class HaltingScoreImpl : public torch::nn::Module {
 public:
  HaltingScoreImpl(const HaltingStep& step, const ModelSpec& spec);
  /// [B, 1, H, W] for SACT (tiles averaged), [B, 1, 1, 1] for ACT. `shift`: see HaltingControl.
  torch::Tensor forward(const torch::Tensor& x, double shift = 0, const BlockArea& area = {});
  /// What the sigmoid is taken of, in 32 bits at least; tiles are not averaged.
  torch::Tensor argument(const torch::Tensor& x, const BlockArea& area = {});
  /// Averages over the tiles of positions that halt together.
  torch::Tensor over_tiles(const torch::Tensor& values, const BlockArea& area = {}) const;
  /// Whether FusedBlock computes the same: it knows neither tiles nor scores without norms, nor
  /// frozen norms.
  bool can_be_fused() const { return tile_ == 1 && global_norm_ && !global_norm_->frozen; }
  /// Whether HardBlock does: it knows frozen norms that do not learn, of single positions.
  bool can_be_fused_hard() const;
  ScoreTensors tensors() const;
  /// Smallest slope for gradients that pull a score back, 0 at first; see halting_slope().
  double slope_floor = 0;

 private:
  int tile_;
  double score_floor_;  // see halting_score()
  torch::nn::Conv2d local_{nullptr};
  torch::nn::Linear global_{nullptr};
  Norm local_norm_{nullptr}, global_norm_{nullptr};
};
TORCH_MODULE(HaltingScore);

/// A convolution with the norm and the ReLU that follow it.
struct Convolution {
  torch::nn::Conv2d conv{nullptr};
  Norm norm{nullptr};  // or none
  bool relu = false;

  explicit operator bool() const { return !conv.is_empty(); }
  bool strided() const;
  /// `outside`: what of x is padding.
  torch::Tensor operator()(const torch::Tensor& x, const torch::Tensor& outside = {});
};

/// A residual unit; see UnitSteps.
class ResidualUnitImpl : public torch::nn::Module {
 public:
  ResidualUnitImpl(const UnitSteps& steps, const ModelSpec& spec);
  /// Evaluated everywhere. `outside`: what of x is padding, and what of the result.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& outside = {},
                        const torch::Tensor& outside_after = {});
  /// Evaluated where `active` is true; elsewhere x keeps its value. Not for the first unit of a
  /// block, which is always evaluated everywhere.
  torch::Tensor forward_where(const torch::Tensor& active, const torch::Tensor& x,
                              const torch::Tensor& outside = {});
  torch::Tensor halting_score(const torch::Tensor& x, double shift = 0,
                              const BlockArea& area = {}) {
    return halting_->forward(x, shift, area);
  }
  const HaltingScoreImpl& halting() const { return *halting_; }
  HaltingScoreImpl& halting() { return *halting_; }
  /// Whether F(x) is the ReLU of x + f(x) instead of the sum.
  bool relu() const { return relu_; }
  /// f(x) alone.
  torch::Tensor residual_of(const torch::Tensor& x) { return residual(entry(x)); }

 private:
  torch::Tensor entry(const torch::Tensor& x);
  torch::Tensor residual(torch::Tensor entered, torch::Tensor outside = {},
                         const torch::Tensor& outside_after = {});

  Norm preactivation_{nullptr};
  Convolution shortcut_;
  std::vector<Convolution> convolutions_;
  bool relu_;
  HaltingScore halting_{nullptr};
};
TORCH_MODULE(ResidualUnit);

/// Training for steep scores, where a position goes on in full or halts for good: it halts where
/// z = (argument - threshold) / steepness + noise is above 0, and the block's output is its state
/// there. The gradient reaches z through the threshold (hard_score()), but no state. What is
/// learned is a network whose scores are all but 0 or 1.
struct HardHalting {
  /// The argument at which one score halts a position, in a network with such scores.
  static double threshold_of(const ModelSpec& spec);
  /// Values of noise that an image needs.
  static int64_t draws(const ModelSpec& spec, Size image);

  double threshold = 0, steepness = 1;
  torch::Tensor noise = {};  // [B, draws()]; undefined: none
};

struct ForwardOptions {
  /// Also return the halting distribution: one more map for every unit.
  bool distribution = false;
  /// Leave a block as soon as every position of every image has halted. The numbers do not change.
  /// On by default outside of training; in training every unit keeps its norm statistics alive, and
  /// on a GPU with gradients the question would hold it up.
  std::optional<bool> early_exit = std::nullopt;
  /// For inference.
  HaltingControl halting = {};
  /// For training; null: the halting rule of the paper. Of a block's outputs the ponder cost is N.
  const HardHalting* hard = nullptr;
  /// Of images that are smaller than the batch. What is at padding in the features has no meaning.
  ImageAreas areas = {};
};

/// What a block gave. A plain block gives every position all its units: N = rho = L. At padding
/// both are 0.
struct BlockOutput {
  torch::Tensor features;      // [B, C, H, W]
  torch::Tensor ponder_cost;   // rho [B, H, W], with gradients
  torch::Tensor units;         // N [B, H, W], float
  torch::Tensor positions;     // [B]: those of an image; undefined where it fills the batch
  torch::Tensor distribution;  // p [B, L, H, W] when asked for
  int evaluated_units = 0;     // units that were run for the batch
};

struct NetworkOutput {
  torch::Tensor features;  // [B, C, H, W]: what the last block gave
  torch::Tensor logits;    // [B, outputs]; of a network with a head
  std::vector<BlockOutput> blocks;
};

/// A hard budget and what each image of a batch has spent of it.
struct ImageBudgets {
  HardBudget budget;
  std::vector<HardBudget::Account> accounts;
};

class NetworkImpl : public torch::nn::Module {
 public:
  explicit NetworkImpl(ModelSpec spec);

  /// `images` [B, 3, H, W], normalised; features [B, C, H, W] where there is no stem.
  NetworkOutput forward(const torch::Tensor& images, const ForwardOptions& options = {});

  const ModelSpec& spec() const { return spec_; }
  /// Decay of the norms' moving averages in training, 0.997 at first.
  void set_norm_decay(double decay);
  /// Smallest slope of the scores' sigmoid for gradients that pull a score back, 0 at first; see
  /// halting_slope().
  void set_halting_slope_floor(double floor);
  /// Whether training uses the kernels of FusedBlock and HardBlock where they apply, as it does
  /// unless told otherwise. The numbers differ by rounding.
  void use_fused_blocks(bool use) { use_fused_blocks_ = use; }

  /// From now on all norms use their moving averages in training too, and leave them as they are.
  void freeze_norms();
  /// Statistics of all norms over the joined batch of all processes; see NormImpl::synchronise().
  void synchronise_norms(ProcessGroup& group);

 private:
  torch::Tensor run_plain_block(int block, torch::Tensor x, const BlockArea& area,
                                BlockOutput& output);
  torch::Tensor run_adaptive_block(int block, torch::Tensor x, const ForwardOptions& options,
                                   const BlockArea& area, ImageBudgets* budgets,
                                   BlockOutput& output);
  torch::Tensor run_fused_block(int block, torch::Tensor x, BlockOutput& output);
  torch::Tensor run_hard_block(int block, torch::Tensor x, const HardHalting& hard,
                               const BlockArea& area, int64_t& drawn, BlockOutput& output);
  /// Of a block that maps of that size enter from one of the area `before`.
  BlockArea next_area(const ImageAreas& areas, int block, Size entering,
                      const BlockArea& before) const;
  torch::Tensor run_fused_hard_block(int block, torch::Tensor x, const HardHalting& hard,
                                     int64_t& drawn, BlockOutput& output);
  bool fuses_hard(int block, const torch::Tensor& x) const;
  bool fuses(int block, const torch::Tensor& x, const ForwardOptions& options) const;

  ModelSpec spec_;
  bool use_fused_blocks_ = true;
  bool joined_norms_ = false;
  Convolution stem_;
  std::optional<PoolStep> pool_;
  std::vector<std::vector<ResidualUnit>> blocks_;
  Norm norm_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};
TORCH_MODULE(Network);

/// Sum over blocks of the mean over images of their mean ponder cost: what tau multiplies.
torch::Tensor ponder_penalty(const NetworkOutput& output);

}  // namespace sact::train
