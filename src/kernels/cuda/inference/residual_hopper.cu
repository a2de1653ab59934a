// Products on Hopper that are added to the stream.
#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda::hopper {
namespace {

template <Mean kMean, bool kScores>
int start_with(const Arguments& arguments, const Launch& launch) {
  return start_fastest<Mode::kResidual, kMean, kScores, Tile<1, 64, 2>, Tile<1, 128, 2>,
                       Tile<2, 128, 1>>(arguments, launch);
}

template <Mean kMean>
int start_with(const Arguments& arguments, const Launch& launch) {
  if (arguments.scores) return start_with<kMean, true>(arguments, launch);
  start_with<kMean, false>(arguments, launch);
  return 0;
}

}  // namespace

int start_residual(const Arguments& arguments, Mean mean, const Launch& launch) {
  return mean == Mean::kNone     ? start_with<Mean::kNone>(arguments, launch)
         : mean == Mean::kBegins ? start_with<Mean::kBegins>(arguments, launch)
                                 : start_with<Mean::kGoesOn>(arguments, launch);
}

}  // namespace sact::cuda::hopper
