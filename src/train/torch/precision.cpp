#include "train/torch/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace sact::train {
namespace {

void set_autocast(bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, enabled);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(enabled);
#endif
}

}  // namespace

Autocast::Autocast(bool enabled) : enabled_(enabled) {
  if (enabled_) set_autocast(true);
}

Autocast::~Autocast() {
  if (!enabled_) return;
  at::autocast::clear_cache();
  set_autocast(false);
}

FastestConvolutions::FastestConvolutions() {
  at::globalContext().setBenchmarkCuDNN(true);
}

FastestConvolutions::~FastestConvolutions() {
  at::globalContext().setBenchmarkCuDNN(false);
}

void to_channels_last(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(torch::MemoryFormat::ChannelsLast));
    }
  }
}

}  // namespace sact::train
