#include "train/torch/network.h"

#include <string>

#include "base/error.h"

namespace sact::train {
namespace {

constexpr double kNormMomentum = 0.003;  // a moving-average decay of 0.997

torch::nn::Conv2d convolution(int in, int out, int kernel, int stride = 1) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

Norm batch_norm(const ModelSpec& spec, int channels) {
  return Norm(torch::nn::BatchNormOptions(channels).eps(spec.norm_epsilon).momentum(kNormMomentum));
}

/// A module that only gives its children a name, as in "stages.2.blocks.5.".
struct NamespaceImpl : torch::nn::Module {};
TORCH_MODULE(Namespace);

}  // namespace

HaltingScoreImpl::HaltingScoreImpl(const ModelSpec& spec, int channels) : tile_(spec.tile) {
  if (spec.halting == Halting::kSact) {
    local_ = register_module("local", convolution(channels, 1, 3));
    if (spec.halting_norm) {
      local_norm_ = register_module("local_norm", batch_norm(spec, channels));
    }
  }
  global_ = register_module("global", torch::nn::Linear(channels, 1));
  if (spec.halting_norm) {
    global_norm_ = register_module("global_norm", batch_norm(spec, channels));
  }
}

torch::Tensor HaltingScoreImpl::forward(const torch::Tensor& x) {
  torch::Tensor pooled = x.mean({2, 3});
  if (global_norm_) pooled = global_norm_(pooled);
  torch::Tensor score = global_(pooled).view({-1, 1, 1, 1});
  if (local_) score = score + local_(local_norm_ ? local_norm_(x) : x);
  score = halting_sigmoid(at_least_float32(score), slope_floor);
  return local_ ? average_tiles(score, tile_) : score;
}

ScoreTensors HaltingScoreImpl::tensors() const {
  auto norm = [](const auto& module) {
    return NormTensors{module->weight, module->bias, module->running_mean, module->running_var};
  };
  ScoreTensors tensors;
  if (local_) {
    tensors.local = local_->weight;
    tensors.local_norm = norm(local_norm_);
  }
  tensors.global = global_->weight;
  tensors.bias = global_->bias;
  tensors.global_norm = norm(global_norm_);
  tensors.epsilon = global_norm_->options.eps();
  tensors.momentum = global_norm_->options.momentum().value();
  return tensors;
}

ResidualUnitImpl::ResidualUnitImpl(const ModelSpec& spec, int block, int unit) {
  const int width = spec.block_width(block);
  const int out = spec.block_channels(block);
  const int in = unit == 0 ? spec.block_input_channels(block) : out;
  const int stride = spec.unit_stride(block, unit);
  auto norm = [&](int channels) { return batch_norm(spec, channels); };
  if (unit == 0) {
    shortcut_ = convolution(in, out, 1, stride);
    register_module("downsample", Namespace())->register_module("conv", shortcut_);
  }
  norm1_ = register_module("norm1", norm(in));
  norm2_ = register_module("norm2", norm(width));
  if (spec.unit == UnitKind::kBottleneck) {
    conv1_ = register_module("conv1", convolution(in, width, 1));
    conv2_ = register_module("conv2", convolution(width, width, 3, stride));
    norm3_ = register_module("norm3", norm(width));
    conv3_ = register_module("conv3", convolution(width, out, 1));
  } else {
    conv1_ = register_module("conv1", convolution(in, width, 3, stride));
    conv2_ = register_module("conv2", convolution(width, out, 3));
  }
  if (spec.has_halting_score(block, unit)) {
    halting_ = register_module("halting", HaltingScore(spec, out));
  }
}

torch::Tensor ResidualUnitImpl::residual(const torch::Tensor& preactivated) {
  torch::Tensor f = conv2_(torch::relu(norm2_(conv1_(preactivated))));
  return conv3_ ? conv3_(torch::relu(norm3_(f))) : f;
}

torch::Tensor ResidualUnitImpl::forward(const torch::Tensor& x) {
  const torch::Tensor p = preactivate(x);
  return (shortcut_ ? shortcut_(p) : x) + residual(p);
}

torch::Tensor ResidualUnitImpl::forward(const torch::Tensor& x, const torch::Tensor& active) {
  SACT_ASSERT(!shortcut_);
  return torch::where(active, x + residual(preactivate(x)), x);
}

NetworkImpl::NetworkImpl(ModelSpec spec) : spec_(std::move(spec)) {
  if (spec_.outputs() > 0) validate(spec_, "the network's spec");  // extractors are parts of others
  SACT_ASSERT(!spec_.detection);
  if (spec_.stem != Stem::kNone) {
    const bool imagenet = spec_.stem == Stem::kImageNet;
    stem_ = convolution(3, spec_.stem_channels(), imagenet ? 7 : 3, imagenet ? 2 : 1);
    register_module("stem", Namespace())->register_module("conv", stem_);
  }
  auto stages = register_module("stages", Namespace());
  for (int block = 0; block < spec_.blocks(); ++block) {
    auto units = stages->register_module(std::to_string(block), Namespace())
                     ->register_module("blocks", Namespace());
    blocks_.emplace_back();
    for (int unit = 0; unit < spec_.units[size_t(block)]; ++unit) {
      blocks_.back().push_back(
          units->register_module(std::to_string(unit), ResidualUnit(spec_, block, unit)));
    }
  }
  if (spec_.outputs() == 0) return;
  const int features = spec_.block_channels(spec_.blocks() - 1);
  norm_ = register_module("norm", batch_norm(spec_, features));
  classifier_ = torch::nn::Linear(features, spec_.outputs());
  register_module("head", Namespace())->register_module("fc", classifier_);
}

void NetworkImpl::set_norm_decay(double decay) {
  for (auto& module : modules()) {
    if (auto* norm = module->as<NormImpl>()) norm->options.momentum(1 - decay);
  }
}

void NetworkImpl::set_halting_slope_floor(double floor) {
  for (auto& module : modules()) {
    if (auto* score = module->as<HaltingScoreImpl>()) score->slope_floor = floor;
  }
}

void NetworkImpl::synchronise_norms(Processes& processes) {
  joined_norms_ = true;
  for (auto& module : modules()) {
    if (auto* norm = module->as<NormImpl>()) norm->synchronise(&processes);
  }
}

NetworkOutput NetworkImpl::forward(const torch::Tensor& images, const ForwardOptions& options) {
  NetworkOutput output;
  torch::Tensor x = stem_ ? stem_(images) : images;
  if (spec_.stem == Stem::kImageNet) x = torch::max_pool2d(x, 3, 2, 1);
  for (int block = 0; block < spec_.blocks(); ++block) {
    output.blocks.emplace_back();
    x = spec_.adaptive() ? run_adaptive_block(block, x, options, output.blocks.back())
                         : run_plain_block(block, x, output.blocks.back());
  }
  output.features = x;
  if (classifier_) output.logits = classifier_(torch::relu(norm_(x)).mean({2, 3}));
  return output;
}

torch::Tensor NetworkImpl::run_plain_block(int block, torch::Tensor x, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  for (ResidualUnit& unit : units) x = unit->forward(x);
  const auto options = x.options().dtype(torch::kFloat32).requires_grad(false);
  output.units = torch::full({x.size(0), x.size(2), x.size(3)}, double(units.size()), options);
  output.ponder_cost = output.units;
  output.evaluated_units = int(units.size());
  return x;
}

torch::Tensor NetworkImpl::run_adaptive_block(int block, torch::Tensor x,
                                              const ForwardOptions& options, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  // In training with joined norms no worker may leave earlier than another: they would wait for its
  // sums. In inference nothing inside the network is exchanged, and each leaves as it likes. Where
  // gradients are wanted of a GPU, asking it after every unit would cost more than it saves.
  const bool waits = x.is_cuda() && torch::GradMode::is_enabled();
  const bool early_exit =
      options.early_exit.value_or(!is_training() && !waits) && !(is_training() && joined_norms_);
  x = units[0]->forward(x);
  if (fuses(block, x, options)) return run_fused_block(block, x, output);
  const int64_t batch = x.size(0), height = x.size(2), width = x.size(3);
  const bool spatial = spec_.halting == Halting::kSact;
  HaltingTracker tracker(
      torch::empty({batch, 1, spatial ? height : 1, spatial ? width : 1}, x.options()),
      spec_.epsilon);
  torch::Tensor result;
  std::vector<torch::Tensor> weights;
  for (size_t l = 0; l < units.size(); ++l) {
    if (l > 0) {
      if (early_exit && !tracker.any_active()) break;
      x = units[l]->forward(x, tracker.active());
    }
    const bool last = l + 1 == units.size();
    const torch::Tensor p = last ? tracker.last_step() : tracker.step(units[l]->halting_score(x));
    result = result.defined() ? result + p * x : p * x;
    output.evaluated_units = int(l) + 1;
    if (options.distribution) weights.push_back(p.expand({batch, 1, height, width}));
  }
  output.ponder_cost = tracker.ponder_cost().expand({batch, 1, height, width}).squeeze(1);
  output.units = tracker.units().expand({batch, 1, height, width}).squeeze(1);
  if (options.distribution) {
    while (weights.size() < units.size()) weights.push_back(torch::zeros_like(weights.front()));
    output.distribution = torch::cat(weights, 1);
  }
  return result.to(x.scalar_type());  // sums are kept in 32 bits, the stream in its own type
}

bool NetworkImpl::fuses(int block, const torch::Tensor& x, const ForwardOptions& options) const {
  const auto& units = blocks_[size_t(block)];
  return use_fused_blocks_ && !joined_norms_ && !options.distribution &&
         !options.early_exit.value_or(false) && is_training() && torch::GradMode::is_enabled() &&
         units.size() > 1 && units[0]->halting().can_be_fused() &&
         FusedBlock::suits(x, int(units.size()));
}

torch::Tensor NetworkImpl::run_fused_block(int block, torch::Tensor x, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  FusedBlock fused(x, int(units.size()), spec_.epsilon, units[0]->halting().slope_floor);
  x = fused.first(x, units[0]->halting().tensors());
  for (size_t l = 1; l + 1 < units.size(); ++l) {
    const ScoreTensors score = units[l]->halting().tensors();
    x = fused.next(x, units[l]->residual_of(x), &score);
  }
  fused.next(x, units.back()->residual_of(x), nullptr);
  FusedBlock::Result result = fused.result();
  output.ponder_cost = result.ponder_cost;
  output.units = result.units;
  output.evaluated_units = int(units.size());
  return result.output;
}

torch::Tensor ponder_penalty(const NetworkOutput& output) {
  torch::Tensor sum;
  for (const BlockOutput& block : output.blocks) {
    const torch::Tensor mean = block.ponder_cost.mean();
    sum = sum.defined() ? sum + mean : mean;
  }
  return sum;
}

}  // namespace sact::train
