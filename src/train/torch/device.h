// Choosing the device that LibTorch runs on, and bringing numbers there.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "train/torch/libtorch.h"

namespace sact::train {

/// "cpu" or "cuda"; throws sact::Error for another name and for CUDA where there is none.
torch::Device device_from_name(const std::string& name);

/// The threads of an operation on the CPU; sact::Error where the system gives fewer.
void set_torch_threads(int count);

/// Makes products and convolutions in 32 bits use all of them: without it CUDA rounds operands to
/// TF32, and results would depend on the device.
void use_full_precision();

/// The values on the device. A GPU fetches them in its turn, from memory that is kept until then,
/// so the caller does not wait for the work before.
template <typename T>
torch::Tensor device_tensor(const std::vector<T>& values, torch::IntArrayRef shape,
                            torch::Device device) {
  const bool later = device.is_cuda();
  const torch::TensorOptions options(c10::CppTypeToScalarType<T>::value);
  torch::Tensor host = torch::empty(shape, options.pinned_memory(later));
  std::copy(values.begin(), values.end(), host.data_ptr<T>());
  return host.to(device, host.scalar_type(), /*non_blocking=*/later);
}

}  // namespace sact::train
