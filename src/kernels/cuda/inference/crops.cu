// Crops of features with max pooling.
#include "detect/crop_sample.h"
#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/tensor.cuh"

namespace sact::cuda {
namespace {

constexpr int kMostThreads = 256;

/// Channels that a thread has, as numbers: 16 bytes of them, or one.
template <typename T, int kEach>
struct Channels {
  float values[kEach];

  __device__ void load(const T* from) {
    if constexpr (kEach == 1) {
      values[0] = to_float(*from);
      return;
    } else {
      const uint4 piece = *reinterpret_cast<const uint4*>(from);
      const uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (kEach == 4) {
          values[i] = __uint_as_float(words[i]);
        } else {
          values[2 * i] = tensor::low<element_of<T>()>(words[i]);
          values[2 * i + 1] = tensor::high<element_of<T>()>(words[i]);
        }
      }
    }
  }
  __device__ void store_to(T* to) const {
    if constexpr (kEach == 8) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = tensor::pack<element_of<T>()>(values[2 * i], values[2 * i + 1]);
      }
      *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) store(to + i, values[i]);
    }
  }
  __device__ void blend(const Channels& low, const Channels& high, float weight) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      values[i] = low.values[i] + weight * (high.values[i] - low.values[i]);
    }
  }
  __device__ void raise_to(const Channels& other) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) values[i] = larger(values[i], other.values[i]);
  }
  __device__ void fill(float value) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) values[i] = value;
  }
};

/// The features of a sample row at one column.
template <typename T, int kEach>
__device__ void blend_column(const Crops& p, const detect::CropSample& row, int column,
                             const T* input, Channels<T, kEach>& blended) {
  Channels<T, kEach> low, high;
  low.load(input + int64_t(row.low * p.features.width + column) * p.channels);
  high.load(input + int64_t(row.high * p.features.width + column) * p.channels);
  blended.blend(low, high, row.weight);
}

/// A block has a cell of a box; a thread kEach of its channels at a time.
template <typename T, int kEach>
__global__ void __launch_bounds__(kMostThreads) crops_kernel(Crops p) {
  after_previous();
  __shared__ detect::CropSample rows[kMostPooledSamples], columns[kMostPooledSamples];
  const int cells = p.cells(), thread = int(threadIdx.x);
  const int cell = int(blockIdx.x) % (cells * cells);
  const detect::CropBox box = p.boxes[int(blockIdx.x) / (cells * cells)];
  for (int i = thread; i < 2 * p.pool; i += int(blockDim.x)) {
    if (i < p.pool) {
      rows[i] =
          detect::crop_sample(box.y1, box.y2, p.features.height, cell / cells * p.pool + i, p.crop);
    } else {
      columns[i - p.pool] = detect::crop_sample(box.x1, box.x2, p.features.width,
                                                cell % cells * p.pool + i - p.pool, p.crop);
    }
  }
  __syncthreads();
  for (int c = thread * kEach; c < p.channels; c += int(blockDim.x) * kEach) {
    const T* input = static_cast<const T*>(p.input) + c;
    Channels<T, kEach> largest, zero, left, right, sample;
    largest.fill(-INFINITY);
    zero.fill(0);
    for (int y = 0; y < p.pool; ++y) {
      const detect::CropSample row = rows[y];
      int left_at = -1, right_at = -1;  // samples beside each other often lie between the same two
      for (int x = 0; x < p.pool; ++x) {
        const detect::CropSample column = columns[x];
        if (!row.inside || !column.inside) {
          largest.raise_to(zero);
          continue;
        }
        if (column.low != left_at) {
          if (column.low == right_at) {
            left = right;
          } else {
            blend_column(p, row, column.low, input, left);
          }
          left_at = column.low;
        }
        if (column.high != right_at) {
          blend_column(p, row, column.high, input, right);
          right_at = column.high;
        }
        sample.blend(left, right, column.weight);
        largest.raise_to(sample);
      }
    }
    largest.store_to(static_cast<T*>(p.output) + int64_t(blockIdx.x) * p.channels + c);
  }
}

template <typename T, int kEach>
void start_crops(const Crops& call, const Launch& launch) {
  const int threads = blocks_for(blocks_for(call.channels, kEach), 32) * 32;
  start(crops_kernel<T, kEach>, call.count * call.cells() * call.cells(),
        threads < kMostThreads ? threads : kMostThreads, launch, call);
}

}  // namespace

void run(const Crops& call, Element type, const Launch& launch) {
  with_element(type, [&](auto element) {
    using T = decltype(element);
    constexpr int kEach = 16 / int(sizeof(T));
    call.channels % kEach == 0 ? start_crops<T, kEach>(call, launch)
                               : start_crops<T, 1>(call, launch);
  });
}

}  // namespace sact::cuda
