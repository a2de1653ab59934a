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

template <Mode kMode, bool kMean>
void start_mma(Arguments arguments, const Launch& launch) {
  using S = MmaShape<kMode, kMean>;
  arguments.column_tiles = arguments.output_stride * 8 / S::kColumns;
  allow_shared(mma_kernel<S>, S::kSharedBytes);
  const int tiles = blocks_for(arguments.most, S::kRows) * arguments.column_tiles;
  const int most = launch.multiprocessors * 2;
  start(mma_kernel<S>, tiles < most ? tiles : most, S::kThreads, launch, arguments,
        S::kSharedBytes);
}

}  // namespace
}  // namespace tensor

void run_mma(const Product& call, const Launch& launch) {
  using namespace tensor;
  const Arguments arguments = arguments_of(call);
  if (call.add) {
    call.mean ? start_mma<Mode::kResidual, true>(arguments, launch)
              : start_mma<Mode::kResidual, false>(arguments, launch);
  } else if (call.stem) {
    start_mma<Mode::kStem, false>(arguments, launch);
  } else if (call.scale) {
    start_mma<Mode::kNorm, false>(arguments, launch);
  } else {
    start_mma<Mode::kRows, false>(arguments, launch);
  }
}

}  // namespace sact::cuda
