// Noise for the decisions of hard halting.
#pragma once

#include "base/random.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// Logistic noise [rows, columns] of a scale: log(u / (1 - u)) of uniform u, as many as 620,000 a
/// step. Here u is drawn, which takes a nanosecond each; the logarithms are left to the device.
/// The same generator gives the same values on the same kind of device.
torch::Tensor logistic_noise(Random random, int64_t rows, int64_t columns, double scale,
                             torch::Device device);

}  // namespace sact::train
