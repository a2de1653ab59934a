// The 3x3 positions around one of an image.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/inference/calls.h"

namespace sact::cuda {

/// Whether marked(position) holds at one of the 3x3 positions around one of an image. All nine are
/// looked at, so that none waits for another.
template <typename Marked>
__device__ inline bool any_around(const GridShape& grid, int position, const Marked& marked) {
  const int y = position / grid.width, x = position - y * grid.width;
  bool any = false;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      const int ny = min(max(y + dy, 0), grid.height - 1);
      const int nx = min(max(x + dx, 0), grid.width - 1);
      any |= marked(ny * grid.width + nx);
    }
  }
  return any;
}

/// Whether a row or one beside it is active.
__device__ inline bool is_reached(const GridShape& grid, const uint8_t* active, int64_t row) {
  const int position = int(row % grid.positions());
  const uint8_t* image = active + (row - position);
  return any_around(grid, position, [&](int at) { return image[at] == kActive; });
}

}  // namespace sact::cuda
