#include "train/torch/halting_torch.h"

#include "halting/halting.h"

namespace sact::train {
namespace {

struct FlooredScore : torch::autograd::Function<FlooredScore> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& argument, double score_floor,
                               double slope_floor) {
    const torch::Tensor s = torch::sigmoid(argument);
    context->save_for_backward({s});
    context->saved_data["score_floor"] = score_floor;
    context->saved_data["slope_floor"] = slope_floor;
    return score_floor > 0 ? ((s - score_floor) / (1 - score_floor)).clamp_min(0) : s;
  }

  /// halting_slope() for tensors.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const torch::Tensor s = context->get_saved_variables()[0], &gradient = gradients[0];
    const torch::Tensor slope = s * (1 - s);
    const torch::Tensor pulls_back = torch::where(s < 0.5, gradient<0, gradient> 0);
    const torch::Tensor floored = slope.clamp_min(context->saved_data["slope_floor"].toDouble());
    const double range = 1 - context->saved_data["score_floor"].toDouble();
    return {gradient * torch::where(pulls_back, floored, slope) / range, {}, {}};
  }
};

struct HardScore : torch::autograd::Function<HardScore> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& argument) {
    context->save_for_backward({torch::sigmoid(argument)});
    return argument.gt(0).to(argument.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const torch::Tensor s = context->get_saved_variables()[0];
    return {gradients[0] * s * (1 - s)};
  }
};

}  // namespace

HaltingTracker::HaltingTracker(const torch::Tensor& like, double epsilon,
                               const torch::Tensor& outside)
    : threshold_(halting_threshold(epsilon)) {
  const auto type = c10::promoteTypes(like.scalar_type(), torch::kFloat32);
  const auto real = like.options().dtype(type).requires_grad(false);
  active_ = outside.defined() ? outside.logical_not()
                              : torch::ones(like.sizes(), real.dtype(torch::kBool));
  cumulative_ = torch::zeros(like.sizes(), real);
  remainder_ = torch::ones(like.sizes(), real);
  remainder_at_halt_ = torch::zeros(like.sizes(), real);
  units_ = torch::zeros(like.sizes(), real);
}

torch::Tensor HaltingTracker::step(const torch::Tensor& score) {
  const torch::Tensor h = at_least_float32(score);
  cumulative_ = cumulative_ + h.detach();  // positions that have halted are past the threshold
  units_ = units_ + active_;
  const torch::Tensor goes_on = active_ & (cumulative_ < threshold_);
  const torch::Tensor halts = active_ & ~goes_on;
  const torch::Tensor zero = torch::zeros({}, h.options());
  const torch::Tensor at_halt = torch::where(halts, remainder_, zero);
  const torch::Tensor before_halt = torch::where(goes_on, h, zero);
  remainder_at_halt_ = remainder_at_halt_ + at_halt;
  remainder_ = remainder_ - before_halt;
  active_ = goes_on;
  return before_halt + at_halt;
}

torch::Tensor HaltingTracker::last_step() {
  return step(torch::ones_like(remainder_).detach());
}

bool HaltingTracker::any_active() const {
  return active_.any().item<bool>();
}

torch::Tensor at_least_float32(const torch::Tensor& tensor) {
  return tensor.to(c10::promoteTypes(tensor.scalar_type(), torch::kFloat32));
}

torch::Tensor halting_score(const torch::Tensor& argument, double score_floor, double slope_floor) {
  return score_floor > 0 || slope_floor > 0
             ? FlooredScore::apply(argument, score_floor, slope_floor)
             : torch::sigmoid(argument);
}

torch::Tensor hard_score(const torch::Tensor& argument) {
  return HardScore::apply(argument);
}

torch::Tensor average_tiles(const torch::Tensor& scores, int tile) {
  if (tile == 1) return scores;
  const int64_t height = scores.size(2), width = scores.size(3);
  // With ceil_mode a partial tile at the edge is divided by the positions it has.
  const torch::Tensor means =
      torch::avg_pool2d(scores, {tile, tile}, {tile, tile}, {0, 0}, /*ceil_mode=*/true,
                        /*count_include_pad=*/false);
  return means.repeat_interleave(tile, 2)
      .narrow(2, 0, height)
      .repeat_interleave(tile, 3)
      .narrow(3, 0, width);
}

}  // namespace sact::train
