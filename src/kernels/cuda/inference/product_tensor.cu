// What the products on tensor cores are asked to do.
#include "kernels/cuda/inference/product_tensor.h"

#include "kernels/cuda/inference/tensor_rows.cuh"

namespace sact::cuda {
namespace tensor {

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
  a.mean_in_place = call.mean_in_place;
  a.output = static_cast<uint4*>(call.output);
  a.output_stride = int(call.output_stride / 8);
  a.mean = static_cast<uint4*>(call.mean);
  a.remainders = call.remainders;
  a.active = call.mean ? call.active : nullptr;
  a.scores = static_cast<const unsigned char*>(call.score_panels);
  a.score_planes = call.score_planes;
  return a;
}

}  // namespace tensor

bool tensor_cores_can_run(const Product& call) {
  if (!call.panels || call.float_output || call.columns % 64 != 0 || call.output_stride % 8 != 0)
    return false;
  if (call.stem) return call.from.rows() / 2 < kMostGatheredRows;
  if (call.depth % 64 != 0 || call.input_stride % 8 != 0) return false;
  if (call.from.rows() >= kMostGatheredRows || call.to.rows() >= kMostGatheredRows) return false;
  if (call.scale)
    return call.packed_norm && call.kernel == 1 && call.depth <= tensor::kMostNormChannels;
  return call.kernel == 1 || call.kernel == 3;
}

}  // namespace sact::cuda
