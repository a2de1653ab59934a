// Which kernel a product gets on Hopper, and its start.
#include "kernels/cuda/inference/product_tensor.h"

#include "kernels/cuda/inference/hopper_launch.cuh"

namespace sact::cuda {
namespace hopper {

int start_norm(const Arguments& arguments, Element type, const Launch& launch);
int start_window(const Arguments& arguments, Element type, const Launch& launch);
int start_residual(const Arguments& arguments, Element type, Mean mean, const Launch& launch);

}  // namespace hopper

namespace {

/// Blocks that can be on the GPU at a time, of those that share tiles.
int64_t most_blocks(int multiprocessors) {
  return 2 * int64_t(multiprocessors);
}

}  // namespace

int64_t scratch_bytes(int multiprocessors) {
  return multiprocessors * hopper::kMostPartialBytes +
         most_blocks(multiprocessors) * int64_t(sizeof(unsigned));
}

int run_hopper(const Product& call, Element type, const Launch& launch) {
  using namespace hopper;
  Arguments arguments = tensor::arguments_of(call);
  if (launch.scratch) {
    auto* scratch = static_cast<unsigned char*>(launch.scratch);
    arguments.partial_sums = reinterpret_cast<float4*>(scratch);
    arguments.arrivals =
        reinterpret_cast<unsigned*>(scratch + launch.multiprocessors * kMostPartialBytes);
  }
  if (call.add) {
    const Mean mean = !call.mean ? Mean::kNone : call.mean_begins ? Mean::kBegins : Mean::kGoesOn;
    return start_residual(arguments, type, mean, launch);
  }
  if (!call.stem && call.scale) {
    start_norm(arguments, type, launch);
  } else if (!call.stem && call.kernel > 1) {
    start_window(arguments, type, launch);
  } else {
    with_half_element(type, [&](auto element) {
      constexpr Element kType = decltype(element)::value;
      if (call.stem) {
        start_one_of<kType, Mode::kStem, Mean::kNone, false, Tile<2, 64, 2>>(arguments, launch);
      } else {
        start_one_of<kType, Mode::kRows, Mean::kNone, false, Tile<1, 64, 2>, Tile<2, 64, 2>,
                     Tile<1, 128, 2>, Tile<2, 128, 1>, Tile<3, 128, 1>, Tile<2, 256, 1>>(arguments,
                                                                                         launch);
      }
    });
  }
  return 0;
}

TileShapes shapes_of(const Product& call, Element type, Launch launch) {
  TileShapes shapes;
  if (type == Element::kFloat32 || launch.products != Products::kHopper ||
      !tensor_cores_can_run(call)) {
    return shapes;
  }
  launch.shapes = &shapes;
  run_hopper(call, type, launch);
  return shapes;
}

}  // namespace sact::cuda
