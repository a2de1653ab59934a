// What becomes of the finished sums of a product, the same in every kernel.
#pragma once

#include "kernels/cuda/inference/launch.cuh"

namespace sact::cuda {

/// The mean of states after a residual, from that before it; see Product.
__device__ inline float next_mean(float mean, float old, float change, float remainder) {
  return (remainder < 0 ? old : mean) + (remainder < 0 ? -remainder : remainder) * change;
}

/// Stores the sum of one column of one row.
template <typename T>
__device__ void finish(const Product& p, int index, int row, int column, float sum) {
  if (p.active && p.active[row] != kActive) return;
  const float value = sum + p.bias[column];
  const int64_t at = (p.output_by_index ? index : row) * p.output_stride + column;
  if (p.float_output) {
    static_cast<float*>(p.output)[at] = p.relu ? positive(value) : value;
    return;
  }
  T* output = static_cast<T*>(p.output) + at;
  if (!p.add) {
    store(output, p.relu ? positive(value) : value);
    return;
  }
  const float old = to_float(*output);
  const float next = p.relu ? positive(old + value) : old + value;
  const float remainder = p.mean ? p.remainders[row] : kNoMeanYet;
  if (remainder == kNoMeanYet || !p.mean_in_place) store(output, next);
  if (remainder == kNoMeanYet) return;
  T* mean = static_cast<T*>(p.mean) + row * p.output_stride + column;
  store(p.mean_in_place ? output : mean, next_mean(remainder < 0 ? 0.0f : to_float(*mean), old,
                                                   p.relu ? next - old : value, remainder));
}

/// Without tensor cores, for any shape.
void run_plain(const Product& call, Element type, const Launch& launch);

}  // namespace sact::cuda
