#include "train/torch/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/start.h"

namespace sact::train {

torch::Device device_from_name(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (name != "cuda") fail("device '{}' is not known: use {}", name, one_of({"cpu", "cuda"}));
  if (!torch::cuda::is_available()) {
    fail(
        "no CUDA device can be used here (this LibTorch was built without CUDA, or there is no "
        "GPU or driver); use the device 'cpu'");
  }
  return torch::kCUDA;
}

void set_torch_threads(int count) {
  expect_threads(count);  // OpenMP ends the program where it gets fewer
  at::set_num_threads(count);
}

void use_full_precision() {
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
}

}  // namespace sact::train
