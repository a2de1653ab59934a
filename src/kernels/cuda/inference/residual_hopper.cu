// Products on Hopper that are added to the stream.
#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda::hopper {
namespace {

template <Element kType, Mean kMean, bool kScores>
int start_with(const Arguments& arguments, const Launch& launch) {
  return start_one_of<kType, Mode::kResidual, kMean, kScores, Tile<1, 64, 2>, Tile<1, 128, 2>,
                      Tile<2, 128, 1>, Tile<3, 128, 1>>(arguments, launch);
}

template <Element kType, Mean kMean>
int start_with(const Arguments& arguments, const Launch& launch) {
  if (arguments.scores) return start_with<kType, kMean, true>(arguments, launch);
  start_with<kType, kMean, false>(arguments, launch);
  return 0;
}

}  // namespace

int start_residual(const Arguments& arguments, Element type, Mean mean, const Launch& launch) {
  return with_half_element(type, [&](auto element) {
    constexpr Element kType = decltype(element)::value;
    return mean == Mean::kNone     ? start_with<kType, Mean::kNone>(arguments, launch)
           : mean == Mean::kBegins ? start_with<kType, Mean::kBegins>(arguments, launch)
                                   : start_with<kType, Mean::kGoesOn>(arguments, launch);
  });
}

}  // namespace sact::cuda::hopper
