// What products on tensor cores have in common: what they are asked to do, where rows are gathered
// from, and how sums are stored.
#pragma once

#include "kernels/cuda/inference/calls.h"
#include "kernels/cuda/inference/tensor.cuh"

namespace sact::cuda::tensor {

/// What is read and what is done with the sums.
enum class Mode {
  kRows,      // rows as they are; bias, ReLU
  kWindow,    // the same of nine taps
  kNorm,      // relu(scale * row + shift) of one tap; bias, ReLU
  kStem,      // windows of seven lines of an image with four channels
  kResidual,  // rows as they are; added to the stream
};
/// Of adaptive blocks: whether the mean of states is kept besides, and could have begun before.
enum class Mean { kNone, kBegins, kGoesOn };

struct Arguments {
  const uint4* rows = nullptr;  // what is gathered
  int row_stride = 0;           // in pieces of 16 bytes
  /// [columns / 64][steps][64 columns][64], swizzled; of windows the taps of 64 channels together.
  const unsigned char* weights = nullptr;
  const float* bias = nullptr;
  /// A norm as relu(s x + c), s = +-1 or 0; what is left of the scale is in the weights. For 16
  /// channels four times s, c of channels 2t, 2t + 1 and s, c of 2t + 8, 2t + 9.
  const uint4* norm = nullptr;
  const int32_t* list = nullptr;
  const int32_t* count = nullptr;
  int most = 0;
  GridShape from, to;
  int stride = 1, depth_blocks = 1, steps = 1, column_tiles = 1;
  bool by_index = false, output_by_index = false, relu = false, mean_in_place = false;
  uint4* output = nullptr;  // of kResidual the stream
  int output_stride = 0;    // in pieces of 16 bytes
  uint4* mean = nullptr;
  const float* remainders = nullptr;
  const uint8_t* active = nullptr;        // which rows are written; null: all
  const unsigned char* scores = nullptr;  // [channels / 64][16][64], as the weights
  float* score_planes = nullptr;          // [column tiles, rows of `to`, kTapStride]
  float4* partial_sums = nullptr;         // of blocks that share a tile; null: none do
  unsigned* arrivals = nullptr;           // [tiles], zeros between kernels
};

/// Channels that norms of kernels have room for.
constexpr int kMostNormChannels = 8192 / 4;

/// Where a row is gathered from: its number in `from`, and which of the nine around it exist.
__device__ inline uint32_t place_of(const Arguments& p, Mode mode, int index, int row) {
  constexpr uint32_t kCentre = 1u << 4;
  const bool one_tap = p.steps == p.depth_blocks;
  if (p.by_index) return uint32_t(index) << 9 | kCentre;
  if (one_tap && p.stride == 1) return uint32_t(row) << 9 | kCentre;
  const int image = row / p.to.positions(), position = row - image * p.to.positions();
  const int y = position / p.to.width, x = position - y * p.to.width;
  if (mode == Mode::kStem) {  // pairs of pixels
    return uint32_t((image * p.from.height + 2 * y) * (p.from.width / 2) + x) << 9 | kCentre;
  }
  const int fy = y * p.stride, fx = x * p.stride;
  const uint32_t place = uint32_t(image * p.from.positions() + fy * p.from.width + fx) << 9;
  if (one_tap) return place | kCentre;
  constexpr uint32_t kLine = 7, kColumn = 1 | 1 << 3 | 1 << 6;
  const uint32_t lines =
      kLine << 3 | (fy > 0 ? kLine : 0) | (fy + 1 < p.from.height ? kLine << 6 : 0);
  const uint32_t columns =
      kColumn << 1 | (fx > 0 ? kColumn : 0) | (fx + 1 < p.from.width ? kColumn << 2 : 0);
  return place | (lines & columns);
}

/// Lane t of four holds word t of four pieces of 16 bytes; afterwards it holds piece t.
__device__ inline uint4 transpose_4(uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3, int t) {
  uint32_t a = (t & 1) ? v0 : v1, b = (t & 1) ? v2 : v3;
  a = __shfl_xor_sync(~0u, a, 1);
  b = __shfl_xor_sync(~0u, b, 1);
  if (t & 1) {
    v0 = a;
    v2 = b;
  } else {
    v1 = a;
    v3 = b;
  }
  a = (t & 2) ? v0 : v2;
  b = (t & 2) ? v1 : v3;
  a = __shfl_xor_sync(~0u, a, 2);
  b = __shfl_xor_sync(~0u, b, 2);
  if (t & 2) {
    v0 = a;
    v1 = b;
  } else {
    v2 = a;
    v3 = b;
  }
  return make_uint4(v0, v1, v2, v3);
}

/// -1 for a row that is left as it is.
__device__ inline int written_row(const Arguments& p, int row) {
  return row >= 0 && p.active && p.active[row] != kActive ? -1 : row;
}

__device__ inline float positive_part(float value, bool relu) {
  return relu && value < 0 ? 0.0f : value;
}

/// A piece of 16 bytes of a row at one step of the depth: of which of the nine, how many rows on,
/// and which piece of it.
struct Piece {
  int tap = 4, delta = 0, offset = 0;
};
template <Mode kMode>
__device__ inline Piece piece_of(const Arguments& p, int step, int piece) {
  if constexpr (kMode == Mode::kStem) {
    return {4, 0, (step * 2 + piece / 4) * (p.from.width / 2) + piece % 4};
  }
  if (kMode == Mode::kNorm || kMode == Mode::kRows || p.steps == p.depth_blocks) {
    return {4, 0, step * 8 + piece};
  }
  // The nine taps of 64 channels follow each other: they read nearly the same rows.
  const int part = step / 9, tap = step - part * 9;
  return {tap, (tap / 3 - 1) * p.from.width + tap % 3 - 1, part * 8 + piece};
}
/// Copies it, or zeros where there is no such row.
/// `kAgain`: this multiprocessor reads them again soon.
template <bool kAgain>
__device__ inline void copy_piece(const Arguments& p, const Piece& piece, uint32_t entry,
                                  uint32_t to) {
  const bool exists = (entry >> piece.tap) & 1;
  const uint32_t row = (entry >> 9) + uint32_t(piece.delta);
  const uint4* from =
      p.rows + (exists ? row * uint32_t(p.row_stride) + uint32_t(piece.offset) : 0u);
  if constexpr (kAgain) {
    copy_16_again(to, from, exists ? 16 : 0);
  } else {
    copy_16(to, from, exists ? 16 : 0);
  }
}

/// Sums begin with their bias: it is there long before it is needed, where an epilogue would wait
/// for it.
template <class S>
__device__ void begin_sums(const Arguments& p, float (&sums)[S::kColumns / 2], int n,
                           bool with_bias) {
  const int quad = int(threadIdx.x) & 3;
#pragma unroll
  for (int j = 0; j < S::kColumns / 8; ++j) {
    float2 bias = make_float2(0, 0);
    if (with_bias) {
      bias = *reinterpret_cast<const float2*>(p.bias + n * S::kColumns + j * 8 + quad * 2);
    }
    float* s = sums + j * 4;
    s[0] = s[2] = bias.x;
    s[1] = s[3] = bias.y;
  }
}

/// Stores sums; a thread has two rows.
template <class S>
__device__ void store_sums(const Arguments& p, const float (&sums)[S::kColumns / 2], int n,
                           int64_t to0, int64_t to1) {
  const int quad = int(threadIdx.x) & 3;
#pragma unroll
  for (int j = 0; j < S::kColumns / 32; ++j) {
    uint32_t w0[4], w1[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float* s = sums + j * 16 + q * 4;
      w0[q] = pack<S::kType>(positive_part(s[0], p.relu), positive_part(s[1], p.relu));
      w1[q] = pack<S::kType>(positive_part(s[2], p.relu), positive_part(s[3], p.relu));
    }
    const uint4 v0 = transpose_4(w0[0], w0[1], w0[2], w0[3], quad);
    const uint4 v1 = transpose_4(w1[0], w1[1], w1[2], w1[3], quad);
    const int column = n * (S::kColumns / 8) + j * 4 + quad;
    if (to0 >= 0) p.output[to0 * p.output_stride + column] = v0;
    if (to1 >= 0) p.output[to1 * p.output_stride + column] = v1;
  }
}

}  // namespace sact::cuda::tensor
