#include "train/adapt/noise.h"

#include <vector>

#include "train/torch/device.h"

namespace sact::train {
namespace {

/// Odd multiples of 2^-24: above 0, below 1, and exact in a float, as 1 - u is.
float uniform_of(uint32_t bits) {
  return float(bits >> 8 | 1) * 0x1.0p-24f;
}

}  // namespace

torch::Tensor logistic_noise(Random random, int64_t rows, int64_t columns, double scale,
                             torch::Device device) {
  std::vector<float> uniform(size_t(rows * columns));
  for (size_t i = 0; i < uniform.size(); i += 2) {  // two of each number
    const uint64_t bits = random.bits();
    uniform[i] = uniform_of(uint32_t(bits >> 32));
    if (i + 1 < uniform.size()) uniform[i + 1] = uniform_of(uint32_t(bits));
  }
  return device_tensor(uniform, {rows, columns}, device).logit_().mul_(scale);
}

}  // namespace sact::train
