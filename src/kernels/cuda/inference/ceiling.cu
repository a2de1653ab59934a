// What tensor cores multiply at best, without Hopper's own instructions: numbers that lie in
// registers. And a pause, for measuring.
#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/product_tensor.h"
#include "kernels/cuda/inference/tensor.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256, kTiles = 8;  // of a warp, 16 rows by 8 columns each

__global__ void __launch_bounds__(kThreads) ceiling_kernel(ProductCeiling p) {
  after_previous();
  const auto* numbers = static_cast<const uint4*>(p.tiles) + (threadIdx.x & 31) * 2;
  const uint4 first = numbers[0], second = numbers[1];
  const uint32_t rows[4] = {first.x, first.y, first.z, first.w};
  float sums[kTiles][4] = {};
  for (int step = 0; step < p.steps; ++step) {
#pragma unroll
    for (float(&sum)[4] : sums)
      tensor::multiply_16x8<Element::kBFloat16>(sum, rows, second.x, second.y);
  }
  float sum = 0;
#pragma unroll
  for (const float(&tile)[4] : sums) sum += tile[0] + tile[1] + tile[2] + tile[3];
  p.sums[int(blockIdx.x) * kThreads + int(threadIdx.x)] = sum;
}

__global__ void pause_kernel(Pause p) {
  after_previous();
  const long long start = clock64();
  while (clock64() - start < p.cycles) {
  }
}

}  // namespace

double run_mma_ceiling(const ProductCeiling& call, const Launch& launch) {
  constexpr int kBlocks = 2;  // on a multiprocessor
  static_assert(kBlocks * kThreads <= kCeilingThreads);
  start(ceiling_kernel, launch.multiprocessors * kBlocks, kThreads, launch, call);
  return 2.0 * 16 * 8 * 16 * kTiles * (kThreads / 32) * call.steps * launch.multiprocessors *
         kBlocks;
}

double run(const ProductCeiling& call, const Launch& launch) {
  if (launch.products == Products::kPlain) return 0;
  return launch.products == Products::kHopper ? run_hopper_ceiling(call, launch)
                                              : run_mma_ceiling(call, launch);
}

void run(const Pause& call, const Launch& launch) {
  start(pause_kernel, 1, 1, launch, call);
}

}  // namespace sact::cuda
