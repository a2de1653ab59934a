// Products on Hopper that are added to the stream.
#include <algorithm>

#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda::hopper {
namespace {

using Narrow = Tile<1, 64, 2>;
using Wide = Tile<1, 128, 2>;
using Tall = Tile<2, 128, 1>;
using Tallest = Tile<3, 128, 1>;

/// A plane of scores has the part of a tile's columns, so all shapes that a caller may choose from
/// have equally many.
template <Element kType, Mean kMean>
int start_with_scores(const Arguments& arguments, const Launch& launch) {
  const int columns = arguments.output_stride * 8;
  const auto cycles = [&](auto tile) {
    return Cost<decltype(tile)>{arguments.most, columns, arguments.steps, launch.multiprocessors,
                                false}
        .cycles();
  };
  const bool narrow =
      columns % 128 != 0 ||
      cycles(Narrow()) < std::min({cycles(Wide()), cycles(Tall()), cycles(Tallest())});
  return narrow ? start_one_of<kType, Mode::kResidual, kMean, true, Narrow>(arguments, launch)
                : start_one_of<kType, Mode::kResidual, kMean, true, Wide, Tall, Tallest>(arguments,
                                                                                         launch);
}

template <Element kType, Mean kMean>
int start_with(const Arguments& arguments, const Launch& launch) {
  if (arguments.scores) return start_with_scores<kType, kMean>(arguments, launch);
  start_one_of<kType, Mode::kResidual, kMean, false, Narrow, Wide, Tall, Tallest>(arguments,
                                                                                  launch);
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
