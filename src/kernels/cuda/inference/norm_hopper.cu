// Products on Hopper that norm and rectify the rows that they read.
#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda::hopper {

int start_norm(const Arguments& arguments, Element type, const Launch& launch) {
  return with_half_element(type, [&](auto element) {
    return start_one_of<decltype(element)::value, Mode::kNorm, Mean::kNone, false, Tile<1, 64, 2>,
                        Tile<2, 64, 2>, Tile<1, 128, 2>, Tile<2, 128, 1>, Tile<3, 128, 1>,
                        Tile<2, 256, 1>>(arguments, launch);
  });
}

}  // namespace sact::cuda::hopper
