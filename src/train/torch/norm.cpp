#include "train/torch/norm.h"

#include "train/torch/process_group.h"

namespace sact::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Every dimension but that of the channels.
std::vector<int64_t> summed_dimensions(const torch::Tensor& x) {
  std::vector<int64_t> dimensions = {0};
  for (int64_t i = 2; i < x.dim(); ++i) dimensions.push_back(i);
  return dimensions;
}

/// One value per channel, in the shape that goes with x.
torch::Tensor per_channel(const torch::Tensor& values, const torch::Tensor& x) {
  std::vector<int64_t> shape(size_t(x.dim()), 1);
  shape[1] = -1;
  return values.view(shape);
}

/// y = weight (x - mean) / sqrt(var + epsilon) + bias with mean and var over all processes. Each
/// direction exchanges two sums per channel: forward those of x and x^2; backward, with
/// z = (x - mean) / sqrt(var + epsilon) and g = dL/dy, those of g and g z, for
/// dL/dx = weight / sqrt(var + epsilon) (g - mean(g) - z mean(g z)).
struct JoinedNorm : torch::autograd::Function<JoinedNorm> {
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias, torch::Tensor running_mean,
                          torch::Tensor running_var, double momentum, double epsilon,
                          ProcessGroup* processes) {
    const auto dimensions = summed_dimensions(x);
    const torch::Tensor wide = x.to(weight.scalar_type());
    const int64_t channels = x.size(1), count = x.numel() / channels;
    // Sums of squares about zero, in 64 bits because the mean's square is taken off again; those
    // about the own mean, in the type of x, are the large part.
    const torch::Tensor own_mean = wide.mean(dimensions).to(torch::kFloat64);
    const torch::Tensor own_var = wide.var(dimensions, /*unbiased=*/false).to(torch::kFloat64);
    torch::Tensor sums =
        torch::cat({own_mean, own_var + own_mean.square(), torch::ones({1}, own_mean.options())}) *
        double(count);
    processes->sum(sums);
    const torch::Tensor total = sums.narrow(0, 2 * channels, 1);
    const torch::Tensor mean = sums.narrow(0, 0, channels) / total;
    const torch::Tensor var =
        (sums.narrow(0, channels, channels) / total - mean.square()).clamp_min(0);
    running_mean.lerp_(mean.to(running_mean.scalar_type()), momentum);
    running_var.lerp_((var * total / (total - 1)).to(running_var.scalar_type()), momentum);
    const torch::Tensor scale = (var + epsilon).rsqrt().to(weight.scalar_type());
    const torch::Tensor shift = mean.to(weight.scalar_type());
    context->save_for_backward({x, weight, shift, scale, total});
    context->saved_data["processes"] = reinterpret_cast<int64_t>(processes);
    const torch::Tensor z = (wide - per_channel(shift, x)) * per_channel(scale, x);
    return (z * per_channel(weight, x) + per_channel(bias, x)).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &weight = saved[1], &shift = saved[2], &scale = saved[3];
    auto* processes = reinterpret_cast<ProcessGroup*>(context->saved_data["processes"].toInt());
    const auto dimensions = summed_dimensions(x);
    const torch::Tensor g = gradients[0].to(weight.scalar_type());
    const torch::Tensor z =
        (x.to(weight.scalar_type()) - per_channel(shift, x)) * per_channel(scale, x);
    // Gradients of weight and bias stay this process's own: they are averaged with all the others.
    const torch::Tensor bias_gradient = g.sum(dimensions);
    const torch::Tensor weight_gradient = (g * z).sum(dimensions);
    torch::Tensor means = torch::cat({bias_gradient, weight_gradient});
    processes->sum(means);
    means = means / saved[4].to(means.scalar_type());
    const int64_t channels = x.size(1);
    const torch::Tensor x_gradient =
        per_channel(weight * scale, x) * (g - per_channel(means.narrow(0, 0, channels), x) -
                                          z * per_channel(means.narrow(0, channels, channels), x));
    return {x_gradient.to(x.scalar_type()), weight_gradient, bias_gradient, {}, {}, {}, {}, {}};
  }
};

}  // namespace

NormImpl::NormImpl(const torch::nn::BatchNormOptions& options) : options(options) {
  const int64_t channels = options.num_features();
  weight = register_parameter("weight", torch::ones({channels}));
  bias = register_parameter("bias", torch::zeros({channels}));
  running_mean = register_buffer("running_mean", torch::zeros({channels}));
  running_var = register_buffer("running_var", torch::ones({channels}));
}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
  const double momentum = *options.momentum();
  const bool learns = is_training() && !frozen;
  if (learns && processes_ && !processes_->alone()) {
    return JoinedNorm::apply(x, weight, bias, running_mean, running_var, momentum, options.eps(),
                             processes_);
  }
  const bool batch_statistics = learns && x.numel() > x.size(1);
  return torch::batch_norm(x, weight, bias, running_mean, running_var, batch_statistics, momentum,
                           options.eps(), at::globalContext().userEnabledCuDNN());
}

}  // namespace sact::train
