// Which kernel a product gets on Hopper, and its start.
#include "kernels/cuda/inference/product_tensor.h"

#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda {
namespace hopper {

int start_residual(const Arguments& arguments, Mean mean, const Launch& launch);

namespace {

void start_rows(const Arguments& arguments, const Launch& launch) {
  start_fastest<Mode::kRows, Mean::kNone, false, Tile<1, 64, 2>, Tile<1, 128, 2>, Tile<2, 128, 1>,
                Tile<2, 256, 1>>(arguments, launch);
}
void start_norm(const Arguments& arguments, const Launch& launch) {
  start_fastest<Mode::kNorm, Mean::kNone, false, Tile<1, 64, 2>, Tile<1, 128, 2>, Tile<2, 128, 1>,
                Tile<2, 256, 1>>(arguments, launch);
}

}  // namespace
}  // namespace hopper

namespace {

/// Blocks that can be on the GPU at a time, of those that share tiles.
int64_t most_blocks(int multiprocessors) {
  return 2 * int64_t(multiprocessors);
}

}  // namespace

int64_t scratch_bytes(int multiprocessors) {
  const int64_t blocks = most_blocks(multiprocessors);
  return blocks * hopper::kMostPartialBytes + blocks * int64_t(sizeof(unsigned));
}

int run_hopper(const Product& call, const Launch& launch) {
  using namespace hopper;
  Arguments arguments = tensor::arguments_of(call);
  if (launch.scratch) {
    auto* scratch = static_cast<unsigned char*>(launch.scratch);
    arguments.partial_sums = reinterpret_cast<float4*>(scratch);
    arguments.arrivals = reinterpret_cast<unsigned*>(scratch + most_blocks(launch.multiprocessors) *
                                                                   kMostPartialBytes);
  }
  if (call.add) {
    const Mean mean = !call.mean ? Mean::kNone : call.mean_begins ? Mean::kBegins : Mean::kGoesOn;
    return start_residual(arguments, mean, launch);
  }
  if (call.stem) {
    start_fastest<Mode::kStem, Mean::kNone, false, Tile<2, 64, 2>>(arguments, launch);
  } else if (call.scale) {
    start_norm(arguments, launch);
  } else {
    start_rows(arguments, launch);
  }
  return 0;
}

}  // namespace sact::cuda
