// Starting the kernels of product_mma.cuh.
#include "kernels/cuda/inference/product_mma.cuh"

#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/product_tensor.h"

namespace sact::cuda {
namespace tensor {
namespace {

template <class S>
__global__ void __launch_bounds__(S::kThreads) mma_kernel(const __grid_constant__ Arguments p) {
  after_previous();
  run_tiles<S>(p);
}

template <Element kType, Mode kMode, bool kMean = false>
void start_mma(Arguments arguments, const Launch& launch) {
  using S = MmaShape<kType, kMode, kMean>;
  arguments.column_tiles = arguments.output_stride * 8 / S::kColumns;
  allow_shared(mma_kernel<S>, S::kSharedBytes);
  const int tiles = blocks_for(arguments.most, S::kRows) * arguments.column_tiles;
  const int most = launch.multiprocessors * 2;
  start(mma_kernel<S>, tiles < most ? tiles : most, S::kThreads, launch, arguments,
        S::kSharedBytes);
}

}  // namespace
}  // namespace tensor

void run_mma(const Product& call, Element type, const Launch& launch) {
  using namespace tensor;
  const Arguments arguments = arguments_of(call);
  with_half_element(type, [&](auto element) {
    constexpr Element kType = decltype(element)::value;
    if (call.add) {
      call.mean ? start_mma<kType, Mode::kResidual, true>(arguments, launch)
                : start_mma<kType, Mode::kResidual>(arguments, launch);
    } else if (call.stem) {
      start_mma<kType, Mode::kStem>(arguments, launch);
    } else if (call.scale) {
      start_mma<kType, Mode::kNorm>(arguments, launch);
    } else if (call.kernel > 1) {
      start_mma<kType, Mode::kWindow>(arguments, launch);
    } else {
      start_mma<kType, Mode::kRows>(arguments, launch);
    }
  });
}

}  // namespace sact::cuda
