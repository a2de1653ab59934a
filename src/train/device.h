// Choosing the device that LibTorch runs on.
#pragma once

#include <torch/torch.h>

#include <string>

namespace sact::train {

/// "cpu" or "cuda"; throws sact::Error for another name and for CUDA where there is none.
torch::Device device_from_name(const std::string& name);

}  // namespace sact::train
