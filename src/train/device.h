// Choosing the device that LibTorch runs on.
#pragma once

#include <string>

#include "train/libtorch.h"

namespace sact::train {

/// "cpu" or "cuda"; throws sact::Error for another name and for CUDA where there is none.
torch::Device device_from_name(const std::string& name);

/// Makes products and convolutions in 32 bits use all of them: without it CUDA rounds operands to
/// TF32, and results would depend on the device.
void use_full_precision();

/// Large blocks of memory that are freed stay with the program. A training step asks for the same
/// ones again, and the system would clear every page of them again.
void keep_freed_memory();

}  // namespace sact::train
