#include "train/torch/hard_block.h"

#include "base/error.h"

#ifdef SACT_CUDA

#include "train/torch/kernel_arguments.h"

namespace sact::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The stream after a unit, and the decision on the next. Without a residual it is x.
void step(const torch::Tensor& x, const torch::Tensor& residual, const torch::Tensor& active,
          bool relu, const torch::Tensor& result, const HardDecisionTensors& next,
          const cuda::HardRule& rule) {
  const cuda::BlockShape shape = shape_of(x);
  const torch::Tensor scratch = torch::empty({cuda::hard_step_floats(shape)}, next.z.options());
  cuda::hard_step(type_of(x), shape, x.data_ptr(), data_of<void>(residual), mask(active), relu,
                  result.data_ptr(), parameters_of(next.score),
                  cuda::ScoreWorkspace::in(next.workspace.data_ptr<float>(), shape),
                  scratch.data_ptr<float>(), rule, current_stream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/// (x, residual, parameters of the score that decides) -> x + residual or its ReLU where active, x
/// elsewhere; and the decision on the next unit, where there is one.
struct HardUnit : torch::autograd::Function<HardUnit> {
  // The parameters local, global and bias stand in the signature for their gradients' sake. They
  // are read from `decision`.
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& residual, const torch::Tensor&,
                               const torch::Tensor&, const torch::Tensor&,
                               const HardDecisionTensors& decision, const HardDecisionTensors* next,
                               const cuda::HardRule* next_rule, const HardBlock::Rule& rule,
                               bool first, const Gradients& block) {
    torch::Tensor result = torch::empty_like(x);
    if (next) {
      step(x, residual, decision.active, rule.relu, result, *next, *next_rule);
    } else {
      cuda::add_and_pool(type_of(x), shape_of(x), x.data_ptr(), residual.data_ptr(),
                         mask(decision.active), rule.relu, result.data_ptr(), nullptr,
                         current_stream());
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    const ScoreTensors& score = decision.score;
    context->set_materialize_grads(false);
    context->save_for_backward({x, residual, decision.workspace, decision.was_active,
                                decision.active, decision.z, score.local, score.local_norm.scale,
                                score.local_norm.shift, score.global, score.bias,
                                score.global_norm.scale, score.global_norm.shift});
    context->saved_data["epsilon"] = score.epsilon;
    context->saved_data["relu"] = rule.relu;
    context->saved_data["steepness"] = rule.steepness;
    context->saved_data["first"] = first;
    keep(context, block);
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &residual = saved[1], &workspace = saved[2], &z = saved[5];
    ScoreTensors score;
    score.local = saved[6];
    score.local_norm = {saved[7], saved[8], saved[7], saved[8]};  // averages are not touched
    score.global = saved[9];
    score.bias = saved[10];
    score.global_norm = {saved[11], saved[12], saved[11], saved[12]};
    score.epsilon = context->saved_data["epsilon"].toDouble();
    const bool first = context->saved_data["first"].toBool();
    BlockGradients& block = kept(context);
    const cuda::BlockShape shape = shape_of(x);
    torch::Tensor stream_gradient;
    if (gradients[0].defined()) stream_gradient = rows(gradients[0], x);
    const cuda::StreamGradients from{data_of<void>(stream_gradient), data_of<void>(block.next)};
    // What later units leave is taken over; after the last one it is the gradient of the cost.
    const torch::Tensor later = block.active.defined() ? block.active : block.cost;
    if (!block.active.defined()) block.active = torch::empty_like(z);
    const cuda::HardDecision decision{mask(saved[3]), mask(saved[4]), z.data_ptr<float>(),
                                      float(context->saved_data["steepness"].toDouble())};
    torch::Tensor x_gradient = torch::empty_like(x), residual_gradient = torch::empty_like(x);
    variable_list result(11);
    cuda::ScoreGradients wanted;
    wanted.local = (result[2] = torch::empty_like(score.local)).data_ptr<float>();
    wanted.global = (result[3] = torch::empty_like(score.global)).data_ptr<float>();
    wanted.bias = (result[4] = torch::empty_like(score.bias)).data_ptr<float>();
    const torch::Tensor scratch =
        torch::empty({cuda::hard_backward_floats(shape)}, workspace.options());
    cuda::hard_backward(
        type_of(x), shape, x.data_ptr(), residual.data_ptr(), decision,
        context->saved_data["relu"].toBool(), from,
        {data_of<float>(block.cost), data_of<float>(later), block.active.data_ptr<float>()},
        parameters_of(score), cuda::ScoreWorkspace::in(workspace.data_ptr<float>(), shape),
        scratch.data_ptr<float>(), x_gradient.data_ptr(), residual_gradient.data_ptr(), wanted,
        current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    if (first) {  // the gradient of x goes to what is before the block, all others to block.next
      result[0] = x_gradient;
      block.next = block.active = block.cost = torch::Tensor();
    } else {
      block.next = x_gradient;
    }
    result[1] = residual_gradient;
    return result;
  }
};

/// (stream after the last unit, N) -> the same, where the gradients come in.
struct HardResult : torch::autograd::Function<HardResult> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& last,
                               const torch::Tensor& count, const Gradients& block) {
    context->set_materialize_grads(false);
    context->save_for_backward({last});
    keep(context, block);
    return {last, count.clone()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    BlockGradients& block = kept(context);
    block.next = block.active = torch::Tensor();
    block.cost = gradients[1].defined() ? gradients[1].contiguous() : torch::Tensor();
    return {rows(gradients[0], context->get_saved_variables()[0]), {}, {}};
  }
};

}  // namespace

HardBlock::HardBlock(const torch::Tensor& like, int units, const Rule& rule,
                     const torch::Tensor& noise)
    : units_(units),
      rule_(rule),
      maps_{like.size(0), like.size(2), like.size(3)},
      workspace_floats_(cuda::ScoreWorkspace::floats(shape_of(like))),
      gradients_(c10::make_intrusive<BlockGradients>()) {
  const auto real = like.options().dtype(torch::kFloat32).requires_grad(false);
  count_ = torch::empty({shape_of(like).rows()}, real);
  if (!noise.defined()) return;
  SACT_ASSERT(noise.size(0) == maps_[0] && noise.size(1) == (units - 1) * maps_[1] * maps_[2]);
  noise_ = noise.to(real.device(), torch::kFloat32);
  if (noise_.stride(1) != 1) noise_ = noise_.contiguous();
}

HardDecisionTensors HardBlock::decided_by(const ScoreTensors& score) const {
  HardDecisionTensors next;
  next.score = score;
  next.workspace = torch::empty({workspace_floats_}, count_.options());
  next.was_active = decision_.active;
  next.active = torch::empty(count_.sizes(), count_.options().dtype(torch::kUInt8));
  next.z = torch::empty_like(count_);
  return next;
}

cuda::HardRule HardBlock::rule(const HardDecisionTensors& next) const {
  cuda::HardRule rule{float(rule_.threshold), float(rule_.steepness)};
  if (noise_.defined()) {
    rule.noise = noise_.data_ptr<float>() + unit_ * maps_[1] * maps_[2];
    rule.image_stride = noise_.stride(0);
  }
  rule.active = mask(next.was_active);
  rule.z = next.z.data_ptr<float>();
  rule.next_active = next.active.data_ptr<uint8_t>();
  rule.count = count_.data_ptr<float>();
  return rule;
}

torch::Tensor HardBlock::first(const torch::Tensor& x, const ScoreTensors& score) {
  const torch::Tensor stream = x.contiguous(kChannelsLast);
  decision_ = decided_by(score);
  step(stream.detach(), {}, {}, rule_.relu, stream.detach(), decision_, rule(decision_));
  ++unit_;
  return stream;
}

torch::Tensor HardBlock::next(const torch::Tensor& x, const torch::Tensor& residual,
                              const ScoreTensors* score) {
  const torch::Tensor f = residual.to(x.scalar_type()).contiguous(kChannelsLast);
  HardDecisionTensors after;
  cuda::HardRule rule_after;
  if (score) {
    after = decided_by(*score);
    rule_after = rule(after);
  }
  const ScoreTensors& by = decision_.score;
  last_ = HardUnit::apply(x, f, by.local, by.global, by.bias, decision_, score ? &after : nullptr,
                          score ? &rule_after : nullptr, rule_, unit_ == 1, gradients_);
  decision_ = after;
  ++unit_;
  return last_;
}

FusedBlock::Result HardBlock::result() {
  SACT_ASSERT(unit_ == units_);
  const variable_list results = HardResult::apply(last_, count_, gradients_);
  return {results[0], results[1].view(maps_), count_.view(maps_)};
}

}  // namespace sact::train

#else

namespace sact::train {

HardBlock::HardBlock(const torch::Tensor&, int units, const Rule&, const torch::Tensor&)
    : units_(units) {
  SACT_ASSERT(false && "built without CUDA");
}

torch::Tensor HardBlock::first(const torch::Tensor&, const ScoreTensors&) {
  return {};
}

torch::Tensor HardBlock::next(const torch::Tensor&, const torch::Tensor&, const ScoreTensors*) {
  return {};
}

FusedBlock::Result HardBlock::result() {
  return {};
}

}  // namespace sact::train

#endif
