// Which kernel a product gets on Hopper, and its start.
#include "kernels/cuda/inference/product_hopper.h"

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

Arguments arguments_of(const Product& call) {
  Arguments a;
  a.rows = static_cast<const uint4*>(call.input);
  a.row_stride = int(call.input_stride / 8);
  a.weights = static_cast<const unsigned char*>(call.panels);
  a.bias = call.bias;
  a.norm = static_cast<const uint4*>(call.packed_norm);
  a.list = call.rows.list;
  a.count = call.rows.count;
  a.most = call.rows.most;
  a.from = call.from;
  a.to = call.to;
  a.stride = call.stride;
  a.depth_blocks = call.depth / 64;
  a.steps = call.taps() * a.depth_blocks;
  if (call.stem) {
    a.row_stride = 1;
    a.steps = kStemSteps;
  }
  a.by_index = call.input_by_index;
  a.output_by_index = call.output_by_index;
  a.relu = call.relu;
  a.mean_only = call.mean_only;
  a.output = static_cast<uint4*>(call.output);
  a.output_stride = int(call.output_stride / 8);
  a.mean = static_cast<uint4*>(call.mean);
  a.remainders = call.remainders;
  a.scores = static_cast<const unsigned char*>(call.score_panels);
  a.score_planes = call.score_planes;
  return a;
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

bool hopper_can_run(const Product& call) {
  if (!call.panels || call.columns % 64 != 0 || call.output_stride % 8 != 0) return false;
  if (call.stem) return call.from.rows() / 2 < kMostGatheredRows;
  if (call.depth % 64 != 0 || call.input_stride % 8 != 0) return false;
  if (call.from.rows() >= kMostGatheredRows || call.to.rows() >= kMostGatheredRows) return false;
  if (call.scale)
    return call.packed_norm && call.kernel == 1 && call.depth <= hopper::kMostNormChannels;
  return call.kernel == 1 || call.kernel == 3;
}

int run_hopper(const Product& call, const Launch& launch) {
  using namespace hopper;
  Arguments arguments = arguments_of(call);
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
