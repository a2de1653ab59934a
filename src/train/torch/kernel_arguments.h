// Tensors as the CUDA kernels of kernels/cuda take them, for the autograd functions that call
// these.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <optional>

#include "kernels/cuda/halting_train.h"
#include "train/torch/fused_block.h"

namespace sact::train {

/// Arguments of autograd functions must be defined or optional.
using Optional = std::optional<torch::Tensor>;

inline Optional optional(const torch::Tensor& tensor) {
  return tensor.defined() ? Optional(tensor) : std::nullopt;
}

constexpr auto kChannelsLast = torch::MemoryFormat::ChannelsLast;

inline cudaStream_t current_stream() {
  return c10::cuda::getCurrentCUDAStream();
}

inline cuda::Type type_of(const torch::Tensor& tensor) {
  return tensor.scalar_type() == torch::kBFloat16 ? cuda::Type::kBFloat16 : cuda::Type::kFloat32;
}

inline cuda::BlockShape shape_of(const torch::Tensor& x) {
  return {int(x.size(0)), int(x.size(2)), int(x.size(3)), int(x.size(1))};
}

/// A gradient as the kernels want it; what has none is zero.
inline torch::Tensor rows(const torch::Tensor& gradient, const torch::Tensor& like) {
  if (!gradient.defined()) return torch::zeros_like(like);
  return gradient.to(like.scalar_type()).contiguous(kChannelsLast);
}

/// Null for an undefined tensor.
template <typename T>
T* data_of(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

inline const uint8_t* mask(const torch::Tensor& active) {
  return data_of<uint8_t>(active);
}

inline cuda::NormParameters norm_parameters(const NormTensors& norm, const ScoreTensors& score) {
  return {norm.scale.data_ptr<float>(),
          norm.shift.data_ptr<float>(),
          norm.running_mean.data_ptr<float>(),
          norm.running_var.data_ptr<float>(),
          float(score.epsilon),
          float(score.momentum)};
}

inline cuda::ScoreParameters parameters_of(const ScoreTensors& score) {
  cuda::ScoreParameters parameters;
  if (score.local.defined()) {
    parameters.local = score.local.data_ptr<float>();
    parameters.channel_stride = score.local.stride(1);
    parameters.tap_stride = score.local.stride(3);
    parameters.local_norm = norm_parameters(score.local_norm, score);
  }
  parameters.global = score.global.data_ptr<float>();
  parameters.bias = score.bias.data_ptr<float>();
  parameters.global_norm = norm_parameters(score.global_norm, score);
  return parameters;
}

using Gradients = c10::intrusive_ptr<BlockGradients>;

inline void keep(torch::autograd::AutogradContext* context, const Gradients& gradients) {
  context->saved_data["block"] = c10::IValue::make_capsule(gradients);
}

inline BlockGradients& kept(torch::autograd::AutogradContext* context) {
  return static_cast<BlockGradients&>(*context->saved_data["block"].toCapsule());
}

}  // namespace sact::train
