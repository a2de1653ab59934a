// Products on Hopper that are added to the stream.
#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda::hopper {
namespace {

template <Mean kMean>
void start_with(const Arguments& arguments, const Launch& launch) {
  start_fastest<Mode::kResidual, kMean, Tile<1, 64, 2>, Tile<1, 128, 2>, Tile<2, 128, 1>>(arguments,
                                                                                          launch);
}

}  // namespace

void start_residual(const Arguments& arguments, Mean mean, const Launch& launch) {
  switch (mean) {
    case Mean::kNone:
      return start_with<Mean::kNone>(arguments, launch);
    case Mean::kBegins:
      return start_with<Mean::kBegins>(arguments, launch);
    case Mean::kGoesOn:
      return start_with<Mean::kGoesOn>(arguments, launch);
  }
}

}  // namespace sact::cuda::hopper
