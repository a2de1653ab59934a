// The network as LibTorch modules: the reference for every other back end, and what is trained.
#pragma once

#include <optional>
#include <vector>

#include "model/architecture.h"
#include "train/torch/fused_block.h"
#include "train/torch/halting_torch.h"
#include "train/torch/libtorch.h"
#include "train/torch/norm.h"

namespace sact::train {

/// H(x): the halting score of a unit, of the sigmoid of W~ * n'(x) + W n(pool(x)) + b, without the
/// first term for ACT.
class HaltingScoreImpl : public torch::nn::Module {
 public:
  HaltingScoreImpl(const HaltingStep& step, const ModelSpec& spec);
  /// [B, 1, H, W] for SACT (tiles averaged), [B, 1, 1, 1] for ACT.
  torch::Tensor forward(const torch::Tensor& x);
  /// Whether FusedBlock computes the same: it knows neither tiles nor scores without norms.
  bool can_be_fused() const { return tile_ == 1 && global_norm_; }
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
  torch::Tensor operator()(const torch::Tensor& x);
};

/// A residual unit; see UnitSteps.
class ResidualUnitImpl : public torch::nn::Module {
 public:
  ResidualUnitImpl(const UnitSteps& steps, const ModelSpec& spec);
  /// Evaluated everywhere.
  torch::Tensor forward(const torch::Tensor& x);
  /// Evaluated where `active` is true; elsewhere x keeps its value. Not for the first unit of a
  /// block, which is always evaluated everywhere.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& active);
  torch::Tensor halting_score(const torch::Tensor& x) { return halting_->forward(x); }
  const HaltingScoreImpl& halting() const { return *halting_; }
  /// Whether F(x) is the ReLU of x + f(x) instead of the sum.
  bool relu() const { return relu_; }
  /// f(x) alone.
  torch::Tensor residual_of(const torch::Tensor& x) { return residual(entry(x)); }

 private:
  torch::Tensor entry(const torch::Tensor& x);
  torch::Tensor residual(torch::Tensor entered);

  Norm preactivation_{nullptr};
  Convolution shortcut_;
  std::vector<Convolution> convolutions_;
  bool relu_;
  HaltingScore halting_{nullptr};
};
TORCH_MODULE(ResidualUnit);

struct ForwardOptions {
  /// Also return the halting distribution: one more map for every unit.
  bool distribution = false;
  /// Leave a block as soon as every position of every image has halted. The numbers do not change.
  /// On by default outside of training; in training every unit keeps its norm statistics alive, and
  /// on a GPU with gradients the question would hold it up.
  std::optional<bool> early_exit = std::nullopt;
};

/// What a block gave. A plain block gives every position all its units: N = rho = L.
struct BlockOutput {
  torch::Tensor ponder_cost;   // rho [B, H, W], with gradients
  torch::Tensor units;         // N [B, H, W], float
  torch::Tensor distribution;  // p [B, L, H, W] when asked for
  int evaluated_units = 0;     // units that were run for the batch
};

struct NetworkOutput {
  torch::Tensor features;  // [B, C, H, W]: what the last block gave
  torch::Tensor logits;    // [B, outputs]; of a network with a head
  std::vector<BlockOutput> blocks;
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
  /// Whether training uses the kernels of FusedBlock where they apply, as it does unless told
  /// otherwise. The numbers differ by rounding.
  void use_fused_blocks(bool use) { use_fused_blocks_ = use; }

  /// Statistics of all norms over the joined batch of all processes; see NormImpl::synchronise().
  void synchronise_norms(ProcessGroup& group);

 private:
  torch::Tensor run_plain_block(int block, torch::Tensor x, BlockOutput& output);
  torch::Tensor run_adaptive_block(int block, torch::Tensor x, const ForwardOptions& options,
                                   BlockOutput& output);
  torch::Tensor run_fused_block(int block, torch::Tensor x, BlockOutput& output);
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

/// Sum over blocks of the mean ponder cost over batch and positions: what tau multiplies.
torch::Tensor ponder_penalty(const NetworkOutput& output);

}  // namespace sact::train
