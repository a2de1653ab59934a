#include "train/torch/network.h"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"
#include "train/torch/hard_block.h"

namespace sact::train {
namespace {

constexpr double kNormMomentum = 0.003;  // a moving-average decay of 0.997

torch::nn::Conv2d conv2d(int in, int out, int kernel, int stride = 1) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

Norm batch_norm(const NormStep& step, const ModelSpec& spec) {
  return Norm(
      torch::nn::BatchNormOptions(step.channels).eps(spec.norm_epsilon).momentum(kNormMomentum));
}

/// A module that only gives its children a name, as in "stages.2.blocks.5.".
struct NamespaceImpl : torch::nn::Module {};
TORCH_MODULE(Namespace);

/// Registers a module under a name with dots; what lies between becomes modules of their own.
template <typename Module>
Module register_at(torch::nn::Module& root, std::string_view name, Module module) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return root.register_module(std::string(name), module);
  const std::string first(name.substr(0, dot));
  const auto children = root.named_children();
  const auto* known = children.find(first);
  torch::nn::Module& child = known ? **known : *root.register_module(first, Namespace());
  return register_at(child, name.substr(dot + 1), module);
}

/// The name of a part below that of the whole: "conv1" for "stages.2.blocks.5.conv1".
std::string_view below(std::string_view part, std::string_view whole) {
  SACT_ASSERT(part.starts_with(whole) && part[whole.size()] == '.');
  return part.substr(whole.size() + 1);
}

/// A convolution whose parts are registered under the names of their weights, below the module
/// `root`, whose own name is `whole`.
Convolution make_convolution(const ConvStep& step, const ModelSpec& spec, torch::nn::Module& root,
                             const std::string& whole) {
  const auto name = [&](const std::string& part) {
    return whole.empty() ? std::string_view(part) : below(part, whole);
  };
  Convolution made;
  made.conv =
      register_at(root, name(step.name), conv2d(step.in, step.out, step.kernel, step.stride));
  if (step.norm) made.norm = register_at(root, name(step.norm->name), batch_norm(*step.norm, spec));
  made.relu = step.relu;
  return made;
}

constexpr double kLeast = -std::numeric_limits<double>::infinity();  // what no maximum takes

/// Pooling of one side, 2 or 3, padded where TensorFlow would for each image's own extent: an odd
/// one has a line in front of it.
torch::Tensor max_pool_same(const torch::Tensor& x, int64_t side, const torch::Tensor& extents,
                            const PoolStep& pool) {
  const bool rows = side == 2;
  const std::vector<int64_t> lines =
      rows ? std::vector<int64_t>{0, 0, 1, 2} : std::vector<int64_t>{1, 2, 0, 0};
  const torch::Tensor padded = torch::constant_pad_nd(x, lines, kLeast);
  const int64_t span = (pool.output(int(x.size(side))) - 1) * pool.kStride + pool.kKernel;
  const std::vector<int64_t> kernel = {rows ? pool.kKernel : 1, rows ? 1 : pool.kKernel};
  const std::vector<int64_t> stride = {rows ? pool.kStride : 1, rows ? 1 : pool.kStride};
  const auto pooled = [&](int64_t first) {
    return torch::max_pool2d(padded.narrow(side, first, span), kernel, stride);
  };
  return torch::where(extents.remainder(2).eq(1).view({-1, 1, 1, 1}), pooled(0), pooled(1));
}

/// Pads where TensorFlow would, with what no maximum takes. `areas`: of images that are smaller
/// than the batch.
torch::Tensor max_pool(torch::Tensor x, const PoolStep& pool, const ImageAreas& areas) {
  x = filled(x, areas.outside(ImageAreas::kStem, size_of(x)), kLeast);
  if (areas && pool.padding == StemPool::kSame) {
    const torch::Tensor extents = areas.sizes()[ImageAreas::kStem];
    x = max_pool_same(x, 2, extents.select(1, 0), pool);
    return max_pool_same(x, 3, extents.select(1, 1), pool);
  }
  if (pool.padding == StemPool::kSymmetric)
    return torch::max_pool2d(x, pool.kKernel, pool.kStride, 1);
  if (pool.padding != StemPool::kSame) {
    return torch::max_pool2d(x, pool.kKernel, pool.kStride, 0, 1, pool.padding == StemPool::kCeil);
  }
  const auto padding = [&](int64_t extent) -> std::pair<int64_t, int64_t> {
    const int64_t before = pool.padding_before(int(extent));
    const int64_t end = (pool.output(int(extent)) - 1) * pool.kStride + pool.kKernel;
    return {before, std::max<int64_t>(end - before - extent, 0)};
  };
  const auto [top, bottom] = padding(x.size(2));
  const auto [left, right] = padding(x.size(3));
  return torch::max_pool2d(torch::constant_pad_nd(x, {left, right, top, bottom}, kLeast),
                           pool.kKernel, pool.kStride);
}

/// The scores of a unit, 1 where a position [B, 1, H, W] of an image must halt for its budget.
torch::Tensor limited_scores(const torch::Tensor& scores, const HaltingTracker& tracker, int block,
                             int unit, torch::IntArrayRef positions, ImageBudgets& budgets) {
  const torch::Tensor one = torch::ones({}, scores.options());
  const torch::Tensor before = torch::where(tracker.active(), tracker.cumulative() + scores, one)
                                   .to(torch::kFloat32)
                                   .expand(positions);
  torch::Tensor after = before.to(torch::kCPU).contiguous().clone();
  const auto values = size_t(after.size(2) * after.size(3));
  for (size_t image = 0; image < budgets.accounts.size(); ++image) {
    float* first = after.data_ptr<float>() + image * values;
    budgets.budget.limit(block, unit, {first, values}, budgets.accounts[image]);
  }
  torch::Tensor halts = after.to(scores.device()) != before;
  if (scores.size(2) * scores.size(3) == 1) halts = halts.amax({2, 3}, /*keepdim=*/true);
  return torch::where(halts, one, scores);
}

/// The units after the first of a block that is fused, given the first one's output.
template <typename Fused>
torch::Tensor run_units(Fused&& fused, std::vector<ResidualUnit>& units, torch::Tensor x,
                        BlockOutput& output) {
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

}  // namespace

HaltingScoreImpl::HaltingScoreImpl(const HaltingStep& step, const ModelSpec& spec)
    : tile_(spec.tile), score_floor_(spec.score_floor) {
  const auto add = [&](const std::string& name, auto module) {
    return register_at(*this, below(name, step.name), module);
  };
  if (step.local) {
    local_ = add(step.local_name(), conv2d(step.channels, 1, 3));
    if (step.norms) local_norm_ = add(step.local_norm().name, batch_norm(step.local_norm(), spec));
  }
  global_ = add(step.global_name(), torch::nn::Linear(step.channels, 1));
  if (step.norms) global_norm_ = add(step.global_norm().name, batch_norm(step.global_norm(), spec));
}

torch::Tensor HaltingScoreImpl::argument(const torch::Tensor& x, const BlockArea& area) {
  torch::Tensor pooled = area.outside.defined()
                             ? filled(x, area.outside).sum({2, 3}) / area.positions.view({-1, 1})
                             : x.mean({2, 3});
  if (global_norm_) pooled = global_norm_(pooled);
  torch::Tensor sum = global_(pooled).view({-1, 1, 1, 1});
  if (local_) sum = sum + local_(filled(local_norm_ ? local_norm_(x) : x, area.outside));
  return at_least_float32(sum);
}

torch::Tensor HaltingScoreImpl::over_tiles(const torch::Tensor& values,
                                           const BlockArea& area) const {
  if (!local_ || tile_ == 1) return values;
  if (!area.outside.defined()) return average_tiles(values, tile_);
  // A tile at an image's edge is divided by the positions it has there.
  const torch::Tensor share =
      average_tiles(area.outside.logical_not().to(values.scalar_type()), tile_);
  return average_tiles(filled(values, area.outside), tile_) / share.clamp_min(1e-6);
}

torch::Tensor HaltingScoreImpl::forward(const torch::Tensor& x, double shift,
                                        const BlockArea& area) {
  torch::Tensor score = argument(x, area);
  if (shift != 0) score = score + shift;
  return over_tiles(sact::train::halting_score(score, score_floor_, slope_floor), area);
}

bool HaltingScoreImpl::can_be_fused_hard() const {
  return tile_ == 1 && local_norm_ && local_norm_->frozen && global_norm_->frozen &&
         !local_norm_->weight.requires_grad() && !local_norm_->bias.requires_grad() &&
         !global_norm_->weight.requires_grad() && !global_norm_->bias.requires_grad();
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

bool Convolution::strided() const {
  return torch::IntArrayRef(conv->options.stride())[0] > 1;
}

torch::Tensor Convolution::operator()(const torch::Tensor& x, const torch::Tensor& outside) {
  const bool sees_neighbours = torch::IntArrayRef(conv->options.kernel_size())[0] > 1;
  torch::Tensor y = conv(sees_neighbours ? filled(x, outside) : x);
  if (norm) y = norm(y);
  return relu ? torch::relu(y) : y;
}

ResidualUnitImpl::ResidualUnitImpl(const UnitSteps& steps, const ModelSpec& spec)
    : relu_(steps.relu) {
  if (steps.shortcut) shortcut_ = make_convolution(*steps.shortcut, spec, *this, steps.name);
  if (steps.preactivation) {
    preactivation_ = register_at(*this, below(steps.preactivation->name, steps.name),
                                 batch_norm(*steps.preactivation, spec));
  }
  for (const ConvStep& step : steps.convolutions) {
    convolutions_.push_back(make_convolution(step, spec, *this, steps.name));
  }
  if (steps.halting) {
    halting_ = register_at(*this, below(steps.halting->name, steps.name),
                           HaltingScore(*steps.halting, spec));
  }
}

torch::Tensor ResidualUnitImpl::entry(const torch::Tensor& x) {
  return preactivation_ ? torch::relu(preactivation_(x)) : x;
}

torch::Tensor ResidualUnitImpl::residual(torch::Tensor f, torch::Tensor outside,
                                         const torch::Tensor& outside_after) {
  for (Convolution& convolution : convolutions_) {
    f = convolution(f, outside);
    if (convolution.strided()) outside = outside_after;
  }
  return f;
}

torch::Tensor ResidualUnitImpl::forward(const torch::Tensor& x, const torch::Tensor& outside,
                                        const torch::Tensor& outside_after) {
  const torch::Tensor entered = entry(x);
  const torch::Tensor sum =
      (shortcut_ ? shortcut_(entered, outside) : x) + residual(entered, outside, outside_after);
  return relu_ ? torch::relu(sum) : sum;
}

torch::Tensor ResidualUnitImpl::forward_where(const torch::Tensor& active, const torch::Tensor& x,
                                              const torch::Tensor& outside) {
  SACT_ASSERT(!shortcut_);
  return torch::where(active, forward(x, outside, outside), x);
}

NetworkImpl::NetworkImpl(ModelSpec spec) : spec_(std::move(spec)) {
  if (spec_.outputs() > 0) validate(spec_, "the network's spec");  // extractors are parts of others
  SACT_ASSERT(!spec_.detection);
  const Architecture architecture(spec_);
  if (architecture.stem) {
    stem_ = make_convolution(architecture.stem->convolution, spec_, *this, {});
    pool_ = architecture.stem->pool;
  }
  for (const auto& block : architecture.blocks) {
    blocks_.emplace_back();
    for (const UnitSteps& unit : block) {
      blocks_.back().push_back(register_at(*this, unit.name, ResidualUnit(unit, spec_)));
    }
  }
  if (!architecture.head) return;
  const HeadSteps& head = *architecture.head;
  if (head.norm) norm_ = register_at(*this, head.norm->name, batch_norm(*head.norm, spec_));
  classifier_ =
      register_at(*this, head.linear.name, torch::nn::Linear(head.linear.in, head.linear.out));
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

void NetworkImpl::freeze_norms() {
  for (auto& module : modules()) {
    if (auto* norm = module->as<NormImpl>()) norm->frozen = true;
  }
}

void NetworkImpl::synchronise_norms(ProcessGroup& group) {
  joined_norms_ = true;
  for (auto& module : modules()) {
    if (auto* norm = module->as<NormImpl>()) norm->synchronise(&group);
  }
}

NetworkOutput NetworkImpl::forward(const torch::Tensor& images, const ForwardOptions& options) {
  NetworkOutput output;
  std::optional<ImageBudgets> budgets;
  if (spec_.adaptive() && options.halting.limits_images()) {
    const Size size{int(images.size(2)), int(images.size(3))};
    budgets.emplace(ImageBudgets{{spec_, size, options.halting.hard_budget},
                                 std::vector<HardBudget::Account>(size_t(images.size(0)))});
  }
  const ImageAreas& areas = options.areas;
  SACT_ASSERT(!areas || (stem_ && !budgets));
  torch::Tensor x =
      stem_ ? stem_(images, areas.outside(ImageAreas::kImage, size_of(images))) : images;
  if (pool_) x = max_pool(x, *pool_, areas);
  int64_t drawn = 0;  // of the noise of hard halting
  BlockArea area;
  area.outside = areas.outside(ImageAreas::level_of(0), size_of(x));
  if (pool_) x = filled(x, area.outside);  // windows of nothing but padding are not finite
  for (int block = 0; block < spec_.blocks(); ++block) {
    BlockOutput& found = output.blocks.emplace_back();
    area = next_area(areas, block, size_of(x), area);
    found.positions = area.positions;
    if (!spec_.adaptive()) {
      x = run_plain_block(block, x, area, found);
    } else if (options.hard) {
      x = run_hard_block(block, x, *options.hard, area, drawn, found);
    } else {
      x = run_adaptive_block(block, x, options, area, budgets ? &*budgets : nullptr, found);
    }
    found.features = x;
  }
  output.features = x;
  if (norm_) x = torch::relu(norm_(x));
  if (classifier_) output.logits = classifier_(x.mean({2, 3}));
  return output;
}

BlockArea NetworkImpl::next_area(const ImageAreas& areas, int block, Size entering,
                                 const BlockArea& before) const {
  if (!areas) return {};
  const int64_t level = ImageAreas::level_of(block);
  const int stride = spec_.unit_stride(block, 0);
  const Size inside{(entering.height + stride - 1) / stride,
                    (entering.width + stride - 1) / stride};
  return {before.outside, areas.outside(level, inside), areas.positions(level)};
}

torch::Tensor NetworkImpl::run_plain_block(int block, torch::Tensor x, const BlockArea& area,
                                           BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  for (size_t l = 0; l < units.size(); ++l) {
    x = units[l]->forward(x, l == 0 ? area.entering : area.outside, area.outside);
  }
  const auto options = x.options().dtype(torch::kFloat32).requires_grad(false);
  output.units =
      filled(torch::full({x.size(0), 1, x.size(2), x.size(3)}, double(units.size()), options),
             area.outside)
          .squeeze(1);
  output.ponder_cost = output.units;
  output.evaluated_units = int(units.size());
  return x;
}

torch::Tensor NetworkImpl::run_adaptive_block(int block, torch::Tensor x,
                                              const ForwardOptions& options, const BlockArea& area,
                                              ImageBudgets* budgets, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  // In training with joined norms no worker may leave earlier than another: they would wait for its
  // sums. In inference nothing inside the network is exchanged, and each leaves as it likes. Where
  // gradients are wanted of a GPU, asking it after every unit would cost more than it saves.
  const bool waits = x.is_cuda() && torch::GradMode::is_enabled();
  const bool early_exit =
      options.early_exit.value_or(!is_training() && !waits) && !(is_training() && joined_norms_);
  x = units[0]->forward(x, area.entering, area.outside);
  if (fuses(block, x, options)) return run_fused_block(block, x, output);
  const int64_t batch = x.size(0), height = x.size(2), width = x.size(3);
  const bool spatial = spec_.halting == Halting::kSact;
  HaltingTracker tracker(
      torch::empty({batch, 1, spatial ? height : 1, spatial ? width : 1}, x.options()),
      spec_.epsilon, spatial ? area.outside : torch::Tensor());
  torch::Tensor result;
  std::vector<torch::Tensor> weights;
  for (size_t l = 0; l < units.size(); ++l) {
    if (l > 0) {
      if (early_exit && !tracker.any_active()) break;
      x = units[l]->forward_where(tracker.active(), x, area.outside);
    }
    const bool last = l + 1 == units.size();
    torch::Tensor score =
        last ? torch::Tensor() : units[l]->halting_score(x, options.halting.shift, area);
    if (budgets && !last) {
      score = limited_scores(score, tracker, block, int(l), {batch, 1, height, width}, *budgets);
    }
    const torch::Tensor p = last ? tracker.last_step() : tracker.step(score);
    result = result.defined() ? result + p * x : p * x;
    output.evaluated_units = int(l) + 1;
    if (options.distribution) weights.push_back(p.expand({batch, 1, height, width}));
  }
  const auto own = [&](const torch::Tensor& map) {
    return filled(map.expand({batch, 1, height, width}), area.outside).squeeze(1);
  };
  output.ponder_cost = own(tracker.ponder_cost());
  output.units = own(tracker.units());
  if (options.distribution) {
    while (weights.size() < units.size()) weights.push_back(torch::zeros_like(weights.front()));
    output.distribution = torch::cat(weights, 1);
  }
  return result.to(x.scalar_type());  // sums are kept in 32 bits, the stream in its own type
}

bool NetworkImpl::fuses(int block, const torch::Tensor& x, const ForwardOptions& options) const {
  const auto& units = blocks_[size_t(block)];
  return use_fused_blocks_ && !joined_norms_ && !options.distribution && !options.areas &&
         options.halting.shift == 0 && !options.halting.limits_images() &&
         !options.early_exit.value_or(false) && is_training() && torch::GradMode::is_enabled() &&
         units.size() > 1 && units[0]->halting().can_be_fused() &&
         FusedBlock::supports(x, int(units.size()));
}

torch::Tensor NetworkImpl::run_hard_block(int block, torch::Tensor x, const HardHalting& hard,
                                          const BlockArea& area, int64_t& drawn,
                                          BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  x = units[0]->forward(x, area.entering, area.outside);
  if (!area.outside.defined() && fuses_hard(block, x)) {
    return run_fused_hard_block(block, x, hard, drawn, output);
  }
  const int64_t batch = x.size(0), height = x.size(2), width = x.size(3);
  const bool spatial = spec_.halting == Halting::kSact;
  torch::Tensor active =  // 1 or 0, with gradients
      torch::ones({batch, 1, spatial ? height : 1, spatial ? width : 1},
                  x.options().dtype(torch::kFloat32).requires_grad(false));
  if (spatial) active = filled(active, area.outside);
  torch::Tensor count = active;
  for (size_t l = 1; l < units.size(); ++l) {
    HaltingScoreImpl& score = units[l - 1]->halting();
    torch::Tensor z = (score.argument(x.detach(), area) - hard.threshold) / hard.steepness;
    if (hard.noise.defined()) {
      const int64_t values = z.numel() / batch;
      z = z + hard.noise.narrow(1, drawn, values).view_as(z);
      drawn += values;
    }
    active = active * (1 - hard_score(score.over_tiles(z, area)));
    // Exactly one of the two, where a product would round.
    x = torch::lerp(x, units[l]->forward(x, area.outside, area.outside).to(x.scalar_type()),
                    active.to(x.scalar_type()));
    count = count + active;
  }
  output.ponder_cost = filled(count.expand({batch, 1, height, width}), area.outside).squeeze(1);
  output.units = output.ponder_cost.detach();
  output.evaluated_units = int(units.size());
  return x;
}

bool NetworkImpl::fuses_hard(int block, const torch::Tensor& x) const {
  const auto& units = blocks_[size_t(block)];
  if (!use_fused_blocks_ || !torch::GradMode::is_enabled() || units.size() < 2) return false;
  for (size_t l = 0; l + 1 < units.size(); ++l) {
    if (!units[l]->halting().can_be_fused_hard()) return false;
  }
  return HardBlock::supports(x, int(units.size()));
}

torch::Tensor NetworkImpl::run_fused_hard_block(int block, torch::Tensor x, const HardHalting& hard,
                                                int64_t& drawn, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  torch::Tensor noise;
  if (hard.noise.defined()) {
    const int64_t values = int64_t(units.size() - 1) * x.size(2) * x.size(3);
    noise = hard.noise.narrow(1, drawn, values);
    drawn += values;
  }
  const HardBlock::Rule rule{hard.threshold, hard.steepness, units[0]->relu()};
  return run_units(HardBlock(x, int(units.size()), rule, noise), units, x, output);
}

torch::Tensor NetworkImpl::run_fused_block(int block, torch::Tensor x, BlockOutput& output) {
  auto& units = blocks_[size_t(block)];
  const FusedBlock::Rule rule{spec_.epsilon, spec_.score_floor, units[0]->halting().slope_floor,
                              units[0]->relu()};
  return run_units(FusedBlock(x, int(units.size()), rule), units, x, output);
}

double HardHalting::threshold_of(const ModelSpec& spec) {
  const double sigmoid = spec.score_floor + (1 - spec.score_floor) * (1 - spec.epsilon);
  return std::log(sigmoid / (1 - sigmoid));
}

int64_t HardHalting::draws(const ModelSpec& spec, Size image) {
  int64_t sum = 0;
  for (int block = 0; block < spec.blocks(); ++block) {
    const int64_t positions =
        spec.halting == Halting::kSact ? spec.block_size(block, image).positions() : 1;
    sum += (spec.units[size_t(block)] - 1) * positions;
  }
  return sum;
}

torch::Tensor ponder_penalty(const NetworkOutput& output) {
  torch::Tensor sum;
  for (const BlockOutput& block : output.blocks) {
    const torch::Tensor mean = block.positions.defined()
                                   ? (block.ponder_cost.sum({1, 2}) / block.positions).mean()
                                   : block.ponder_cost.mean();
    sum = sum.defined() ? sum + mean : mean;
  }
  return sum;
}

}  // namespace sact::train
