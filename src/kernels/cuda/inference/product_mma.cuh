// Products over lists of rows on the tensor cores of any GPU since compute capability 8.0, in
// types of 16 bits with sums of 32. The weights are those of product_hopper.cuh.
//
// A block has 128 rows by 64 columns at a time, each of its four warps 32 rows. All threads fetch,
// three steps ahead, and all multiply.
#pragma once

#include "kernels/cuda/inference/tensor_rows.cuh"

namespace sact::cuda::tensor {

template <Element kType_, Mode kMode_, bool kMean_>
struct MmaShape {
  static constexpr Element kType = kType_;  // of 16 bits
  static constexpr Mode kMode = kMode_;
  static constexpr bool kMean = kMean_;
  static constexpr int kRows = 128, kColumns = 64, kThreads = 128, kStages = 3;
  static constexpr int kRowBytes = kRows * 128, kStage = kRowBytes + kColumns * 128;
  static constexpr int kSharedBytes = 1024 + kStages * kStage;
};

/// Adds sums to the stream and keeps the mean; a thread has two rows, and pairs of columns.
template <class S>
__device__ void add_pairs(const Arguments& p, const float (&sums)[S::kColumns / 2], int n, int row0,
                          int row1) {
  const int quad = int(threadIdx.x) & 3;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = h ? row1 : row0;
    if (row < 0) continue;
    const int64_t first = (int64_t(row) * p.output_stride + n * (S::kColumns / 8)) * 4 + quad;
    uint32_t* states = reinterpret_cast<uint32_t*>(p.output) + first;
    uint32_t* means = reinterpret_cast<uint32_t*>(p.mean) + first;
    const float r = S::kMean ? p.remainders[row] : kNoMeanYet;
#pragma unroll
    for (int j = 0; j < S::kColumns / 8; ++j) {
      const uint32_t old = states[j * 4];
      const float f0 = sums[j * 4 + h * 2], f1 = sums[j * 4 + h * 2 + 1];
      const float x0 = positive_part(low<S::kType>(old) + f0, p.relu);
      const float x1 = positive_part(high<S::kType>(old) + f1, p.relu);
      const uint32_t next = pack<S::kType>(x0, x1);
      if (r == kNoMeanYet || !p.mean_in_place) states[j * 4] = next;
      if constexpr (S::kMean) {
        const float c0 = p.relu ? x0 - low<S::kType>(old) : f0,
                    c1 = p.relu ? x1 - high<S::kType>(old) : f1;
        if (r != kNoMeanYet) {
          const uint32_t before = r < 0 ? old : means[j * 4];
          const float size = r < 0 ? -r : r;
          (p.mean_in_place ? states : means)[j * 4] = pack<S::kType>(
              fmaf(size, c0, low<S::kType>(before)), fmaf(size, c1, high<S::kType>(before)));
        }
      }
    }
  }
}

/// One step of a tile: a depth of 64.
template <class S>
__device__ void multiply_step(const Arguments& p, int step, uint32_t stage,
                              float (&sums)[2][S::kColumns / 2]) {
  const int lane = int(threadIdx.x) & 31, warp = int(threadIdx.x) >> 5;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint32_t a[2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const uint32_t row = uint32_t(warp * 32 + m * 16 + (lane & 15)), half = uint32_t(lane >> 4);
      load_matrices(a[m], stage + row * 128 + (((uint32_t(k) * 2 + half) ^ (row & 7)) << 4));
    }
    if constexpr (S::kMode == Mode::kNorm) {
      const uint4 c = p.norm[(step * 4 + k) * 4 + (lane & 3)];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        a[m][0] = scale_shift_relu<S::kType>(a[m][0], c.x, c.y);
        a[m][1] = scale_shift_relu<S::kType>(a[m][1], c.x, c.y);
        a[m][2] = scale_shift_relu<S::kType>(a[m][2], c.z, c.w);
        a[m][3] = scale_shift_relu<S::kType>(a[m][3], c.z, c.w);
      }
    }
#pragma unroll
    for (int j = 0; j < S::kColumns / 16; ++j) {
      const uint32_t column = uint32_t(j * 16 + (lane & 7) + ((lane >> 4) << 3));
      const uint32_t half = uint32_t(lane >> 3) & 1;
      uint32_t b[4];
      load_matrices(b, stage + S::kRowBytes + column * 128 +
                           (((uint32_t(k) * 2 + half) ^ (column & 7)) << 4));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
          float(&d)[4] = *reinterpret_cast<float(*)[4]>(&sums[m][(j * 2 + tile) * 4]);
          multiply_16x8<S::kType>(d, a[m], b[tile * 2], b[tile * 2 + 1]);
        }
      }
    }
  }
}

template <class S>
__device__ void run_tiles(const Arguments& p) {
  constexpr int kEach = S::kRows / 16;
  const uint32_t base = shared_base();
  const int thread = int(threadIdx.x), lane = thread & 31, warp = thread >> 5;
  const int piece = thread & 7, first = thread >> 3;
  const uint32_t place = uint32_t(first * 128 + ((piece ^ (first & 7)) << 4));
  const int count = p.count ? *p.count : p.most;
  const int tiles = (count + S::kRows - 1) / S::kRows * p.column_tiles;
  const auto row_of = [&](int index) {
    return index >= count ? -1 : p.list ? p.list[index] : index;
  };
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    const int m = tile / p.column_tiles, n = tile - m * p.column_tiles;
    uint32_t entries[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int index = m * S::kRows + first + 16 * i, row = row_of(index);
      entries[i] = row < 0 ? 0 : place_of(p, S::kMode, index, row);
    }
    const auto fetch = [&](int step) {
      if (step < p.steps) {
        const uint32_t stage = base + uint32_t(step % S::kStages * S::kStage);
        const Piece own = piece_of<S::kMode>(p, step, piece);
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
          copy_piece<S::kMode == Mode::kWindow>(p, own, entries[i],
                                                stage + place + uint32_t(i * 2048));
        }
        const unsigned char* weights = p.weights + (int64_t(n) * p.steps + step) * 8192;
#pragma unroll
        for (int i = 0; i < 8192 / 16 / S::kThreads; ++i) {
          const int at = (thread + i * S::kThreads) * 16;
          copy_16(stage + S::kRowBytes + uint32_t(at), weights + at, 16);
        }
      }
      copies_commit();  // an empty group counts, too
    };
    float sums[2][S::kColumns / 2];
    for (int step = 0; step < S::kStages - 1; ++step) fetch(step);
    for (int part = 0; part < 2; ++part) begin_sums<S>(p, sums[part], n, true);
    for (int step = 0; step < p.steps; ++step) {
      copies_wait<S::kStages - 2>();
      __syncthreads();  // everybody's copies are there, and the stage before is read
      fetch(step + S::kStages - 1);
      multiply_step<S>(p, step, base + uint32_t(step % S::kStages * S::kStage), sums);
    }
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int index0 = m * S::kRows + warp * 32 + part * 16 + lane / 4, index1 = index0 + 8;
      const int row0 = row_of(index0), row1 = row_of(index1);
      if constexpr (S::kMode == Mode::kResidual) {
        add_pairs<S>(p, sums[part], n, S::kMean ? written_row(p, row0) : row0,
                     S::kMean ? written_row(p, row1) : row1);
      } else {
        store_sums<S>(p, sums[part], n, row0 < 0 || !p.output_by_index ? row0 : index0,
                      row1 < 0 || !p.output_by_index ? row1 : index1);
      }
    }
    __syncthreads();  // before the next tile's first stages come
  }
  copies_wait<0>();
}

}  // namespace sact::cuda::tensor
