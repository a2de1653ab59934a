#include "train/torch/fused_block.h"

#include "base/error.h"

#ifdef SACT_CUDA

#include "halting/halting.h"
#include "train/torch/kernel_arguments.h"

namespace sact::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// (x, residual) -> (x where halted, x + residual or its ReLU where active; scores of the result),
/// and what the halting rule makes of the scores.
struct ScoredStream : torch::autograd::Function<ScoredStream> {
  // The parameters stand in the signature for their gradients' sake: local, scale and shift of its
  // norm; global, bias, scale and shift of its norm. They are read from `score`.
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const Optional& given_residual, const Optional& given_active,
                               const Optional&, const Optional&, const Optional&,
                               const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                               const torch::Tensor&, const ScoreTensors& score,
                               const cuda::HaltingRule& rule, bool relu,
                               const torch::Tensor& weight, const Gradients& block) {
    const torch::Tensor residual = given_residual.value_or(torch::Tensor());
    const torch::Tensor active = given_active.value_or(torch::Tensor());
    const cuda::BlockShape shape = shape_of(x);
    const auto real = x.options().dtype(torch::kFloat32).requires_grad(false);
    const torch::Tensor memory = torch::empty({cuda::ScoreWorkspace::floats(shape)}, real);
    const auto workspace = cuda::ScoreWorkspace::in(memory.data_ptr<float>(), shape);
    const cuda::Type type = type_of(x);
    torch::Tensor result = residual.defined() ? torch::empty_like(x) : x;
    cuda::add_and_pool(type, shape, x.data_ptr(),
                       residual.defined() ? residual.data_ptr() : nullptr, mask(active), relu,
                       result.data_ptr(), &workspace, current_stream());
    torch::Tensor scores = torch::empty({shape.rows()}, real);
    torch::Tensor taps;
    if (score.local.defined()) taps = torch::empty({cuda::kTaps * int64_t(shape.rows())}, real);
    cuda::scores(type, shape, result.data_ptr(), parameters_of(score), workspace,
                 taps.defined() ? taps.data_ptr<float>() : nullptr, scores.data_ptr<float>(), rule,
                 current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    context->set_materialize_grads(false);
    context->save_for_backward({result, active, memory, score.local, score.local_norm.scale,
                                score.local_norm.shift, score.global, score.bias,
                                score.global_norm.scale, score.global_norm.shift, weight});
    context->saved_data["residual"] = residual.defined();
    context->saved_data["epsilon"] = score.epsilon;
    context->saved_data["unit"] = int64_t(rule.unit);
    context->saved_data["relu"] = relu;
    keep(context, block);
    return {result, scores};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &active = saved[1], &memory = saved[2];
    ScoreTensors score;
    score.local = saved[3];
    score.local_norm = {saved[4], saved[5], saved[4], saved[5]};  // averages are not touched
    score.global = saved[6];
    score.bias = saved[7];
    score.global_norm = {saved[8], saved[9], saved[8], saved[9]};
    score.epsilon = context->saved_data["epsilon"].toDouble();
    const int64_t unit = context->saved_data["unit"].toInt();
    const bool residual = context->saved_data["residual"].toBool();
    BlockGradients& block = kept(context);
    const cuda::BlockShape shape = shape_of(x);
    const auto real = memory.options();
    torch::Tensor stream_gradient;
    if (gradients[0].defined()) stream_gradient = rows(gradients[0], x);
    auto data = [](const torch::Tensor& tensor) {
      return tensor.defined() ? tensor.data_ptr() : nullptr;
    };
    const cuda::StreamGradients from{data(stream_gradient), data(block.next), data(block.output),
                                     saved[10].data_ptr<float>()};
    // Without the block's result the scores have no gradients.
    const bool scored = gradients[1].defined() && block.images.defined();
    const torch::Tensor score_gradient =
        scored ? gradients[1].contiguous() : torch::zeros({shape.rows()}, real);
    const torch::Tensor image_gradient =
        scored ? block.images[unit] : torch::zeros({shape.images}, real);
    torch::Tensor x_gradient = torch::empty_like(x), residual_gradient;
    if (residual) residual_gradient = torch::empty_like(x);
    variable_list result(15);
    for (size_t i : {3, 4, 5, 6, 7, 8, 9}) {
      if (saved[i].defined()) result[i] = torch::empty_like(saved[i]);
    }
    auto pointer = [&](size_t i) {
      return result[i].defined() ? result[i].data_ptr<float>() : nullptr;
    };
    const torch::Tensor scratch = torch::empty({cuda::score_backward_floats(shape)}, real);
    cuda::score_backward(
        type_of(x), shape, x.data_ptr(), parameters_of(score),
        cuda::ScoreWorkspace::in(memory.data_ptr<float>(), shape), mask(active),
        context->saved_data["relu"].toBool(), from, score_gradient.data_ptr<float>(),
        image_gradient.data_ptr<float>(), scratch.data_ptr<float>(), x_gradient.data_ptr(),
        residual ? residual_gradient.data_ptr() : nullptr,
        {pointer(3), pointer(4), pointer(5), pointer(6), pointer(8), pointer(9), pointer(7)},
        current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    block.next = residual ? x_gradient : torch::Tensor();
    if (!residual) result[0] = x_gradient;  // the first unit's goes to what is before the block
    result[1] = residual_gradient;
    return result;
  }
};

/// The last unit, which has no score.
struct MaskedAdd : torch::autograd::Function<MaskedAdd> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& residual, const torch::Tensor& active,
                               bool relu, const Gradients& block) {
    torch::Tensor result = torch::empty_like(x);
    cuda::add_and_pool(type_of(x), shape_of(x), x.data_ptr(), residual.data_ptr(), mask(active),
                       relu, result.data_ptr(), nullptr, current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    keep(context, block);
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    // HaltedSum gives nothing to rows that are not active: they have no weight. It has been through
    // the ReLU.
    const torch::Tensor gradient = gradients[0].contiguous(kChannelsLast);
    kept(context).next = gradient;
    return {{}, gradient, {}, {}, {}};
  }
};

/// Kept from autograd, which would take tensors for variables.
struct Streams {
  const std::vector<torch::Tensor>& of;
};

/// (stream of the last unit, scores of the others) -> (weighted sum of the streams, ponder cost),
/// given what the halting rule made of the scores.
struct HaltedSum : torch::autograd::Function<HaltedSum> {
  static variable_list forward(AutogradContext* context, at::TensorList last_and_scores,
                               const Streams& streams, const torch::Tensor& weights,
                               const torch::Tensor& unit_counts, const torch::Tensor& ponder_cost,
                               bool per_image, const FusedBlock::Rule& rule,
                               const Gradients& block) {
    std::vector<const void*> pointers;
    for (const torch::Tensor& stream : streams.of) pointers.push_back(stream.data_ptr());
    const torch::Tensor& first = streams.of.front();
    torch::Tensor output = torch::empty_like(first);
    cuda::weighted_sum(type_of(first), shape_of(first), int(pointers.size()), pointers.data(),
                       weights.data_ptr<float>(), output.data_ptr(), current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    variable_list saved = streams.of;
    saved.insert(saved.end(), last_and_scores.begin() + 1, last_and_scores.end());
    saved.push_back(weights);
    saved.push_back(unit_counts);
    context->save_for_backward(saved);
    context->saved_data["per_image"] = per_image;
    context->saved_data["relu"] = rule.relu;
    context->saved_data["slope_floor"] = rule.slope_floor;
    context->saved_data["score_floor"] = rule.score_floor;
    keep(context, block);
    return {output, ponder_cost.clone()};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor &weights = saved[saved.size() - 2], &unit_counts = saved.back();
    const auto units = size_t(weights.size(0));
    const cuda::BlockShape shape = shape_of(saved[0]);
    const torch::Tensor output_gradient = rows(gradients[0], saved[0]);
    const torch::Tensor cost_gradient =
        gradients[1].defined() ? gradients[1].contiguous() : torch::Tensor();
    const int64_t scored = int64_t(units) - 1;
    torch::Tensor score_gradients = torch::empty({scored, weights.size(1)}, weights.options());
    torch::Tensor image_gradients = torch::empty({scored, shape.images}, weights.options());
    torch::Tensor last_gradient = torch::empty_like(saved[0]);
    std::vector<const void*> streams;
    std::vector<const float*> scores;
    variable_list result = {last_gradient};
    for (size_t unit = 0; unit < units; ++unit) {
      streams.push_back(saved[unit].data_ptr());
      if (unit + 1 == units) continue;
      scores.push_back(saved[units + unit].data_ptr<float>());
      result.push_back(score_gradients[int64_t(unit)]);
    }
    cuda::weighted_sum_backward(
        type_of(saved[0]), shape, int(units), streams.data(), weights.data_ptr<float>(),
        unit_counts.data_ptr<float>(), scores.data(), context->saved_data["per_image"].toBool(),
        context->saved_data["relu"].toBool(), float(context->saved_data["slope_floor"].toDouble()),
        float(context->saved_data["score_floor"].toDouble()), output_gradient.data_ptr(),
        cost_gradient.defined() ? cost_gradient.data_ptr<float>() : nullptr,
        {last_gradient.data_ptr(), score_gradients.data_ptr<float>(),
         image_gradients.data_ptr<float>()},
        current_stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    BlockGradients& block = kept(context);
    block.output = output_gradient;
    block.images = image_gradients;
    result.resize(units + 7);
    return result;
  }
};

}  // namespace

bool FusedBlock::supports(const torch::Tensor& x, int units) {
  return x.is_cuda() && x.size(1) % cuda::kVector == 0 && units <= cuda::kMaxUnits &&
         x.size(0) > 1 && x.size(0) < 65536 &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}

FusedBlock::FusedBlock(const torch::Tensor& like, int units, const Rule& rule)
    : units_(units), rule_(rule), gradients_(c10::make_intrusive<BlockGradients>()) {
  const int64_t rows = shape_of(like).rows();
  const auto real = like.options().dtype(torch::kFloat32).requires_grad(false);
  state_ = torch::empty({3, rows}, real);
  weights_ = torch::empty({units, rows}, real);
  ponder_cost_ = torch::empty({rows}, real);
}

/// Of the unit whose turn it is.
cuda::HaltingRule FusedBlock::rule(const torch::Tensor& next_active) {
  const int64_t rows = weights_.size(1);
  float* state = state_.data_ptr<float>();
  return {unit_,
          units_,
          halting_threshold(rule_.epsilon),
          float(rule_.score_floor),
          mask(active_),
          {state, state + rows, state + 2 * rows},
          weights_.data_ptr<float>() + unit_ * rows,
          next_active.defined() ? next_active.data_ptr<uint8_t>() : nullptr,
          ponder_cost_.data_ptr<float>()};
}

torch::Tensor FusedBlock::take(const torch::Tensor& x, const torch::Tensor& residual,
                               const ScoreTensors& score) {
  const torch::Tensor next_active =
      torch::empty({weights_.size(1)}, state_.options().dtype(torch::kUInt8));
  per_image_ = !score.local.defined();
  const variable_list results = ScoredStream::apply(
      x, optional(residual), optional(active_), optional(score.local),
      optional(score.local_norm.scale), optional(score.local_norm.shift), score.global, score.bias,
      score.global_norm.scale, score.global_norm.shift, score, rule(next_active), rule_.relu,
      weights_[unit_], gradients_);
  streams_.push_back(results[0].detach());
  scores_.push_back(results[1]);
  active_ = next_active;
  ++unit_;
  return results[0];
}

torch::Tensor FusedBlock::first(const torch::Tensor& x, const ScoreTensors& score) {
  return take(x.contiguous(kChannelsLast), {}, score);
}

torch::Tensor FusedBlock::next(const torch::Tensor& x, const torch::Tensor& residual,
                               const ScoreTensors* score) {
  const torch::Tensor f = residual.to(x.scalar_type()).contiguous(kChannelsLast);
  if (score) return take(x, f, *score);
  last_ = MaskedAdd::apply(x, f, active_, rule_.relu, gradients_);
  streams_.push_back(last_.detach());
  cuda::halt_last(int(weights_.size(1)), rule({}), current_stream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  ++unit_;
  return last_;
}

FusedBlock::Result FusedBlock::result() {
  SACT_ASSERT(unit_ == units_);
  variable_list last_and_scores = {last_};
  last_and_scores.insert(last_and_scores.end(), scores_.begin(), scores_.end());
  const torch::Tensor unit_counts = state_[2];
  const variable_list results =
      HaltedSum::apply(at::TensorList(last_and_scores), Streams{streams_}, weights_, unit_counts,
                       ponder_cost_, per_image_, rule_, gradients_);
  const torch::Tensor& x = streams_.front();
  const std::vector<int64_t> maps = {x.size(0), x.size(2), x.size(3)};
  return {results[0], results[1].view(maps), unit_counts.view(maps)};
}

}  // namespace sact::train

#else

namespace sact::train {

bool FusedBlock::supports(const torch::Tensor&, int) {
  return false;
}

FusedBlock::FusedBlock(const torch::Tensor&, int units, const Rule&) : units_(units) {
  SACT_ASSERT(false && "built without CUDA");
}

torch::Tensor FusedBlock::first(const torch::Tensor&, const ScoreTensors&) {
  return {};
}

torch::Tensor FusedBlock::next(const torch::Tensor&, const torch::Tensor&, const ScoreTensors*) {
  return {};
}

FusedBlock::Result FusedBlock::result() {
  return {};
}

}  // namespace sact::train

#endif
