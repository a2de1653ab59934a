// What Hopper's tensor cores multiply at best: tiles that lie in shared memory, over and over.
#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/product_tensor.h"
#include "kernels/cuda/inference/wgmma.cuh"

namespace sact::cuda {
namespace hopper {
namespace {

constexpr int kThreads = 256, kColumns = 256, kGroupBytes = 64 * 128, kColumnBytes = kColumns * 128;
constexpr int kTileBytes = 2 * kGroupBytes + kColumnBytes;

__global__ void __launch_bounds__(kThreads, 1) ceiling_kernel(ProductCeiling p) {
#ifdef SACT_HAS_HOPPER
  wait_for_previous();
  const uint32_t base = shared_base();
  const int thread = int(threadIdx.x);
  for (int i = thread; i < kTileBytes / 16; i += kThreads) {
    store_128(base + uint32_t(i * 16), static_cast<const uint4*>(p.tiles)[i]);
  }
  fence_shared();
  __syncthreads();
  const uint64_t rows = describe(base + uint32_t(thread / 128 * kGroupBytes));
  const uint64_t columns = describe(base + 2 * kGroupBytes);
  float sums[kColumns / 2];
  for (int step = 0; step < p.steps; ++step) {
    products_begin();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      Wgmma<kColumns, Element::kBFloat16>::from_shared(sums, rows + k * 2, columns + k * 2,
                                                       step > 0 || k > 0);
    }
    products_commit();
    products_wait<1>();
  }
  products_wait<0>();
  keep(sums);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) sum += sums[i];
  p.sums[int(blockIdx.x) * kThreads + thread] = sum;
#endif
}

}  // namespace
}  // namespace hopper

double run_hopper_ceiling(const ProductCeiling& call, const Launch& launch) {
  using namespace hopper;
  static_assert(kTileBytes <= kCeilingTileBytes && kThreads <= kCeilingThreads);
  allow_shared(ceiling_kernel, kTileBytes + 1024);
  start(ceiling_kernel, launch.multiprocessors, kThreads, launch, call, kTileBytes + 1024);
  return 2.0 * 128 * kColumns * 64 * call.steps * launch.multiprocessors;
}

}  // namespace sact::cuda
