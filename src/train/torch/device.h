// Choosing the device that LibTorch runs on.
#pragma once

#include <string>

#include "train/torch/libtorch.h"

namespace sact::train {

/// "cpu" or "cuda"; throws sact::Error for another name and for CUDA where there is none.
torch::Device device_from_name(const std::string& name);

/// Makes products and convolutions in 32 bits use all of them: without it CUDA rounds operands to
/// TF32, and results would depend on the device.
void use_full_precision();

}  // namespace sact::train
