// Where the activations of a run lie in the memory of a GPU.
#pragma once

#include <vector>

#include "base/size.h"
#include "kernels/cuda/inference/calls.h"
#include "model/spec.h"

namespace sact::engine {

/// The grids of a batch of one size.
struct CudaGeometry {
  CudaGeometry() = default;
  CudaGeometry(const ModelSpec& spec, int images, Size image);

  int images = 0;
  Size image;
  cuda::GridShape input;  // pixels; without a stem what enters block 1
  cuda::GridShape stem;   // after the stem's convolution; without one as `input`
  cuda::GridShape first;  // what enters block 1
  std::vector<cuda::GridShape> blocks;

  /// What enters a block.
  const cuda::GridShape& before(int block) const {
    return block == 0 ? first : blocks[size_t(block) - 1];
  }
};

/// What becomes of the ends of a network that is a part of another.
struct CudaEnds {
  bool input_is_placed = false;  // by a kernel; nothing is uploaded
  bool features_stay = false;    // on the device; the host learns whether they are finite
};

/// Addresses in one piece of memory.
struct Workspace {
  float* upload = nullptr;  // images as they come
  void* input = nullptr;    // as the stem reads them
  void* streams[3] = {};    // what enters a block, its states, their mean
  void* preactivated = nullptr;
  void *hidden = nullptr, *narrow = nullptr;  // between the convolutions of a unit
  cuda::HaltingRows halting;                  // without what results have
  float *scores = nullptr, *tap_values = nullptr, *halted_sums = nullptr;
  float* score_planes = nullptr;  // with tensor cores
  double* band_sums = nullptr;
  int32_t *active_list = nullptr, *reached_list = nullptr, *part_counts = nullptr;
  int32_t* counts = nullptr;  // [units of the block that has the most, 2]
  int64_t* spent = nullptr;   // [images]
  float* means = nullptr;     // [images, channels]: what the head reads
  /// Results, in one part that is copied to the host: logits, then for each block ponder costs and
  /// units. Without a head the features of the last block come first instead; where they stay, a
  /// number that is not 0 where one is not finite.
  std::byte* results = nullptr;
  int64_t result_bytes = 0;
  int64_t logits_at = 0;
  std::vector<int64_t> ponder_at, units_at;  // of blocks; empty where nothing halts

  /// Lays it out from `base` on; returns how many bytes there are.
  int64_t lay_out(const ModelSpec& spec, const CudaGeometry& geometry, cuda::Element type,
                  const CudaEnds& ends, std::byte* base);
};

}  // namespace sact::engine
