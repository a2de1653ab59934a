// Products over lists of rows on Hopper's tensor cores, in types of 16 bits with sums of 32.
//
// A block has four warps that fetch and one or two warpgroups that multiply. Rows are gathered in
// pieces of 64 channels, 128 bytes, into a ring of stages in shared memory; zeros are filled in
// outside of images and past the last row. Weights lie packed as the tensor cores read them and
// come by bulk copies. How many rows there are is read on the device: blocks take tiles in turn
// until none is left. Where tiles are too few for the GPU, several blocks share the depth of each;
// the last that is done adds up what all have, in the order of the depth, and goes on with the
// sums.
#pragma once

#include "kernels/cuda/inference/tensor_rows.cuh"
#include "kernels/cuda/inference/wgmma.cuh"

namespace sact::cuda::hopper {

/// Steps that are worth a block of their own.
constexpr int kLeastSteps = 4;

/// How many blocks share the depth of each tile. To add a part up takes about as long as a step, so
/// there are at most as many parts as each has steps.
__host__ __device__ constexpr int depth_parts(int tiles, int steps, int blocks) {
  const int parts = tiles > 0 ? blocks / tiles : 1;
  int most = 1;
  while ((most + 1) * kLeastSteps <= steps && (most + 1) * (most + 1) <= steps) ++most;
  return parts < 2 ? 1 : parts < most ? parts : most;
}

/// Warpgroups that multiply, columns of a tile, blocks on a multiprocessor. One that caches leaves
/// memory to the cache of the multiprocessor, where rows of windows are found again.
template <int kGroups_, int kColumns_, int kBlocks_, bool kCaches_ = false>
struct Tile {
  static constexpr int kGroups = kGroups_, kColumns = kColumns_, kBlocks = kBlocks_;
  static constexpr bool kCaches = kCaches_;
};

template <Element kType_, class T, Mode kMode_, Mean kMean_, bool kScores_>
struct Shape {
  static constexpr Element kType = kType_;  // of 16 bits
  static constexpr int kGroups = T::kGroups, kColumns = T::kColumns, kBlocks = T::kBlocks;
  static constexpr bool kCaches = T::kCaches;
  static constexpr Mode kMode = kMode_;
  static constexpr Mean kMean = kMean_;
  static constexpr bool kScores = kScores_;  // of the new states
  static constexpr int kRows = kGroups * 64, kThreads = (kGroups + 1) * 128;
  static constexpr int kRowBytes = kRows * 128, kStage = kRowBytes + kColumns * 128;
  static constexpr int kBudget = (kCaches ? 153600 : 204800) / kBlocks;
  static constexpr int kStages = kBudget / kStage < 8 ? kBudget / kStage : 8;
  static constexpr int kBarrierBytes = 256, kNormBytes = kMode == Mode::kNorm ? 8192 : 0;
  static constexpr int kSharedBytes = 1024 + kStages * kStage + kBarrierBytes + kNormBytes;
  static constexpr int kFetchRegisters = kGroups == 2 && kBlocks == 2 ? 40 : 56;
  static constexpr int kMultiplyRegisters = kGroups == 1   ? 200
                                            : kGroups == 3 ? 152
                                            : kBlocks == 1 ? 224
                                                           : 96;
  static constexpr bool kMovesRegisters = kGroups > 1 || kBlocks == 2;
  /// Whether blocks may share the depth of a tile.
  static constexpr bool kShares =
      kMode == Mode::kRows || kMode == Mode::kWindow || kMode == Mode::kNorm;
};
/// Bytes of sums that the blocks of a multiprocessor leave for others, at most.
constexpr int kMostPartialBytes = 128 * 256 * 4;

/// The work of a block: tiles, or parts of the depth of tiles.
template <class S>
struct Schedule {
  int items, parts, steps;

  __device__ Schedule(const Arguments& p, int count) : steps(p.steps) {
    const int tiles = (count + S::kRows - 1) / S::kRows * p.column_tiles;
    parts = S::kShares && p.partial_sums ? depth_parts(tiles, steps, int(gridDim.x)) : 1;
    items = tiles * parts;
  }
  __device__ int tile(int item) const { return parts == 1 ? item : item / parts; }
  __device__ int first_step(int item) const {
    return parts == 1 ? 0 : item % parts * steps / parts;
  }
  __device__ int last_step(int item) const {
    return parts == 1 ? steps : (item % parts + 1) * steps / parts;
  }
};
/// Of the score weights of 64 channels.
constexpr int kScoreBytes = 16 * 128;

/// The ring of stages as one side of it goes round.
template <class S>
struct Ring {
  uint32_t base, barriers;
  int stage = 0;
  uint32_t phase = 0;

  __device__ uint32_t full() const { return barriers + 8 * stage; }
  __device__ uint32_t empty() const { return barriers + 8 * (S::kStages + stage); }
  __device__ uint32_t empty(int of) const { return barriers + 8 * (S::kStages + of); }
  __device__ uint32_t rows() const { return base + stage * S::kStage; }
  __device__ uint32_t columns() const { return rows() + S::kRowBytes; }
  __device__ void advance() {
    if (++stage == S::kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

/// Four warps: each thread has a piece of 16 bytes of every 16th row.
template <class S>
__device__ void fetch(const Arguments& p, Ring<S> ring, int count, const Schedule<S>& schedule) {
  constexpr int kEach = S::kRows / 16;
  const int t = int(threadIdx.x) - S::kGroups * 128, piece = t & 7, first = t >> 3;
  const uint32_t place = uint32_t(first * 128 + ((piece ^ (first & 7)) << 4));
  for (int item = int(blockIdx.x); item < schedule.items; item += int(gridDim.x)) {
    const int tile = schedule.tile(item);
    const int m = tile / p.column_tiles, n = tile - m * p.column_tiles;
    uint32_t entries[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int index = m * S::kRows + first + 16 * i;
      entries[i] =
          index >= count ? 0 : place_of(p, S::kMode, index, p.list ? p.list[index] : index);
    }
    const int last_step = schedule.last_step(item);
    for (int step = schedule.first_step(item); step < last_step; ++step) {
      barrier_wait(ring.empty(), ring.phase ^ 1);
      if (t == 0) {
        barrier_expect(ring.full(), S::kColumns * 128);
#pragma unroll
        for (int part = 0; part < S::kColumns / 64; ++part) {
          const int64_t at = int64_t(n * (S::kColumns / 64) + part) * p.steps + step;
          copy_bulk(ring.columns() + part * 8192, p.weights + at * 8192, 8192, ring.full());
        }
      }
      const Piece own = piece_of<S::kMode>(p, step, piece);
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        copy_piece<S::kCaches>(p, own, entries[i], ring.rows() + place + uint32_t(i * 2048));
      }
      arrive_after_copies(ring.full());
      ring.advance();
    }
    if constexpr (S::kMode == Mode::kResidual) {
      int rows[kEach];
      bool has_mean[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int index = m * S::kRows + first + 16 * i;
        rows[i] = index >= count ? -1 : p.list ? p.list[index] : index;
        if constexpr (S::kMean == Mean::kGoesOn) {
          const float remainder = rows[i] < 0 ? kNoMeanYet : p.remainders[rows[i]];
          has_mean[i] = remainder > 0 && remainder != kNoMeanYet;
        }
      }
      for (int chunk = 0; chunk < S::kColumns / 64; ++chunk) {
#pragma unroll
        for (int part = 0; part < (S::kMean == Mean::kGoesOn ? 2 : 1); ++part) {
          barrier_wait(ring.empty(), ring.phase ^ 1);
          const int channels = n * (S::kColumns / 64) + chunk;  // 64 of them
          if (t == 0 && S::kScores && part == 0) {
            barrier_expect(ring.full(), kScoreBytes);
            copy_bulk(ring.columns(), p.scores + channels * kScoreBytes, kScoreBytes, ring.full());
          } else if (t == 0) {
            barrier_arrive(ring.full());
          }
          const uint4* from = (part ? p.mean : p.output) + channels * 8 + piece;
#pragma unroll
          for (int i = 0; i < kEach; ++i) {
            const bool exists = part ? has_mean[i] : rows[i] >= 0;
            copy_16(ring.rows() + place + uint32_t(i * 2048),
                    from + (exists ? uint32_t(rows[i]) * uint32_t(p.output_stride) : 0u),
                    exists ? 16 : 0);
          }
          arrive_after_copies(ring.full());
          ring.advance();
        }
      }
    }
  }
  wait_for_copies();
}

/// Adds the products of some steps to the sums of a tile; leaves the ring behind its last stage.
template <class S>
__device__ void multiply(int first_step, int last_step, Ring<S>& ring,
                         float (&sums)[S::kColumns / 2], uint32_t norms) {
  const int lane = int(threadIdx.x) & 31, warp = (int(threadIdx.x) >> 5) & 3;
  const uint32_t own_rows = uint32_t(int(threadIdx.x) >> 7) * 8192;
  const auto release = [&](int stage) {
    if (lane == 0) barrier_arrive(ring.empty(stage));
  };
  // A short ring has no stage for products that wait for the next.
  constexpr bool kAtOnce = S::kStages < 4;
  int previous = 0;
  for (int step = first_step; step < last_step; ++step) {
    barrier_wait(ring.full(), ring.phase);
    const uint64_t columns = describe(ring.columns());
    if constexpr (S::kMode == Mode::kNorm) {
      const uint32_t row = uint32_t(warp * 16 + (lane & 15)), half = uint32_t(lane >> 4);
      const uint32_t line = ring.rows() + own_rows + row * 128, swizzle = row & 7;
      uint32_t raw[4][4], normed[16];
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        load_matrices(raw[k], line + (((k * 2 + half) ^ swizzle) << 4));
      }
      if (step > first_step) {  // the products before still read their columns and registers
        products_wait<0>();
        release(previous);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint4 c = load_128(norms + uint32_t(((step * 4 + k) * 4 + (lane & 3)) * 16));
        normed[k * 4 + 0] = scale_shift_relu<S::kType>(raw[k][0], c.x, c.y);
        normed[k * 4 + 1] = scale_shift_relu<S::kType>(raw[k][1], c.x, c.y);
        normed[k * 4 + 2] = scale_shift_relu<S::kType>(raw[k][2], c.z, c.w);
        normed[k * 4 + 3] = scale_shift_relu<S::kType>(raw[k][3], c.z, c.w);
      }
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        Wgmma<S::kColumns, S::kType>::from_registers(sums, normed[k * 4], normed[k * 4 + 1],
                                                     normed[k * 4 + 2], normed[k * 4 + 3],
                                                     columns + k * 2, true);
      }
      products_commit();
    } else {
      fence_shared();
      const uint64_t rows = describe(ring.rows() + own_rows);
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        Wgmma<S::kColumns, S::kType>::from_shared(sums, rows + k * 2, columns + k * 2, true);
      }
      products_commit();
      if constexpr (kAtOnce) {
        products_wait<0>();
        release(ring.stage);
      } else {
        products_wait<1>();
        if (step > first_step) release(previous);
      }
    }
    previous = ring.stage;
    ring.advance();
  }
  products_wait<0>();
  keep(sums);
  if constexpr (!kAtOnce) release(previous);
}

/// Leaves the sums of a part of a tile to the last block that shares it. Returns whether that is
/// this one; then the sums are those of the whole depth.
template <class S>
__device__ bool gather_parts(const Arguments& p, int item, int parts, uint32_t flag,
                             float (&sums)[S::kColumns / 2]) {
  constexpr int kThreads = S::kGroups * 128, kPieces = S::kColumns / 8;
  const int thread = int(threadIdx.x), tile = item / parts;
  const auto place = [&](int part, int piece) {
    return p.partial_sums + (int64_t(tile * parts + part) * kPieces + piece) * kThreads + thread;
  };
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    *place(item % parts, i) =
        make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
  }
  __threadfence();
  threads_meet(1, kThreads);
  if (thread == 0) {
    const unsigned before = atomicAdd(p.arrivals + tile, 1u);
    const bool is_last = before + 1 == unsigned(parts);
    if (is_last) p.arrivals[tile] = 0;  // for the next kernel
    store_32(flag, is_last);
  }
  threads_meet(1, kThreads);
  if (load_32(flag) == 0) return false;
  __threadfence();
  constexpr int kTogether = kPieces < 8 ? kPieces : 8;  // on their way at the same time
#pragma unroll
  for (int first = 0; first < kPieces; first += kTogether) {
    float4 total[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) total[i] = __ldcg(place(0, first + i));
#pragma unroll 2
    for (int part = 1; part < parts; ++part) {
      float4 other[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) other[i] = __ldcg(place(part, first + i));
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        total[i].x += other[i].x;
        total[i].y += other[i].y;
        total[i].z += other[i].z;
        total[i].w += other[i].w;
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      float* to = sums + 4 * (first + i);
      to[0] = total[i].x;
      to[1] = total[i].y;
      to[2] = total[i].z;
      to[3] = total[i].w;
    }
  }
  return true;
}

/// Adds sums to the stream, 64 columns at a time, and keeps the mean.
template <class S>
__device__ void add_sums(const Arguments& p, Ring<S>& ring, const float (&sums)[S::kColumns / 2],
                         int n, int row0, int row1) {
  const int lane = int(threadIdx.x) & 31, warp = (int(threadIdx.x) >> 5) & 3;
  const int group = lane >> 2, quad = lane & 3;
  const uint32_t line =
      uint32_t(int(threadIdx.x) >> 7) * 8192 + uint32_t((warp * 16 + group) * 128 + quad * 4);
  const auto piece = [&](int j, int h) {
    return load_32(ring.rows() + line + uint32_t(h * 1024 + ((j ^ group) << 4)));
  };
  const int rows[2] = {row0, row1};
  float scores[8];
  float remainders[2] = {kNoMeanYet, kNoMeanYet};
  if constexpr (S::kMean != Mean::kNone) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (rows[h] >= 0) remainders[h] = p.remainders[rows[h]];
    }
  }
#pragma unroll
  for (int chunk = 0; chunk < S::kColumns / 64; ++chunk) {
    uint32_t next[8][2], means[8][2];
    // Not in the registers of the sums: who writes to these makes all products of the kernel wait
    // for one another (ptxas: C7515).
    float changes[8][2][2];
    barrier_wait(ring.full(), ring.phase);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float* sum = sums + chunk * 32 + j * 4 + h * 2;
        const uint32_t old = piece(j, h);
        const float f0 = sum[0], f1 = sum[1];
        const float x0 = positive_part(low<S::kType>(old) + f0, p.relu);
        const float x1 = positive_part(high<S::kType>(old) + f1, p.relu);
        next[j][h] = pack<S::kType>(x0, x1);
        if constexpr (S::kMean != Mean::kNone) {  // as where it begins
          const float r = remainders[h];
          float(&change)[2] = changes[j][h];
          change[0] = p.relu ? x0 - low<S::kType>(old) : f0;
          change[1] = p.relu ? x1 - high<S::kType>(old) : f1;
          means[j][h] = r == kNoMeanYet ? next[j][h]
                                        : pack<S::kType>(fmaf(-r, change[0], low<S::kType>(old)),
                                                         fmaf(-r, change[1], high<S::kType>(old)));
        }
      }
    }
    if constexpr (S::kScores) {
      const uint64_t weights = describe(ring.columns());
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        Wgmma<16, S::kType>::from_registers(scores, next[2 * k][0], next[2 * k][1],
                                            next[2 * k + 1][0], next[2 * k + 1][1], weights + k * 2,
                                            chunk > 0 || k > 0);
      }
      products_commit();
      products_wait<0>();
    }
    if constexpr (S::kMean == Mean::kGoesOn) {
      __syncwarp();
      if (lane == 0) barrier_arrive(ring.empty());
      ring.advance();
      barrier_wait(ring.full(), ring.phase);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float r = remainders[h];
          const float(&change)[2] = changes[j][h];
          const uint32_t mean = piece(j, h);
          if (r > 0 && r != kNoMeanYet) {
            means[j][h] = pack<S::kType>(fmaf(r, change[0], low<S::kType>(mean)),
                                         fmaf(r, change[1], high<S::kType>(mean)));
          }
        }
      }
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(ring.empty());
    ring.advance();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int column = (n * (S::kColumns / 64) + chunk) * 8 + j * 4 + quad;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint4 state = transpose_4(next[j * 4][h], next[j * 4 + 1][h], next[j * 4 + 2][h],
                                        next[j * 4 + 3][h], quad);
        const int64_t at = int64_t(rows[h]) * p.output_stride + column;
        const bool has_mean = S::kMean != Mean::kNone && remainders[h] != kNoMeanYet;
        if (rows[h] >= 0 && !(has_mean && p.mean_in_place)) p.output[at] = state;
        if constexpr (S::kMean != Mean::kNone) {
          const uint4 mean = transpose_4(means[j * 4][h], means[j * 4 + 1][h], means[j * 4 + 2][h],
                                         means[j * 4 + 3][h], quad);
          if (rows[h] >= 0 && has_mean) (p.mean_in_place ? p.output : p.mean)[at] = mean;
        }
      }
    }
  }
  if constexpr (S::kScores) {  // ten of sixteen are used
    keep(scores);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (rows[h] < 0) continue;
      float* to = p.score_planes + (int64_t(n) * p.to.rows() + rows[h]) * kTapStride;
      to[quad * 2] = scores[h * 2];
      to[quad * 2 + 1] = scores[h * 2 + 1];
      if (quad > 0) continue;
      to[8] = scores[4 + h * 2];
      to[9] = scores[4 + h * 2 + 1];
    }
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    hopper_kernel(const __grid_constant__ Arguments p) {
#ifdef SACT_HAS_HOPPER
  Ring<S> ring{shared_base(), 0};
  ring.barriers = ring.base + S::kStages * S::kStage;
  const uint32_t norms = ring.barriers + S::kBarrierBytes;
  const int thread = int(threadIdx.x);
  if (thread == 0) {
    for (int stage = 0; stage < S::kStages; ++stage) {
      barrier_init(ring.barriers + 8 * stage, 129);  // the fetching threads, and the bulk copy
      barrier_init(ring.empty(stage), S::kGroups * 4);
    }
    barriers_ready();
  }
  if constexpr (S::kMode == Mode::kNorm) {
    for (int i = thread; i < p.depth_blocks * 16; i += S::kThreads) {
      store_128(norms + uint32_t(i * 16), p.norm[i]);
    }
  }
  __syncthreads();
  wait_for_previous();
  let_next_start();
  const int count = p.count ? *p.count : p.most;
  const Schedule<S> schedule(p, count);
  if (thread / 128 == S::kGroups) {
    if constexpr (S::kMovesRegisters) give_registers<S::kFetchRegisters>();
    fetch<S>(p, ring, count, schedule);
  } else {
    if constexpr (S::kMovesRegisters) take_registers<S::kMultiplyRegisters>();
    const int own = thread / 32 * 16 + (thread % 32) / 4;  // of the first of two rows in a tile
    for (int item = int(blockIdx.x); item < schedule.items; item += int(gridDim.x)) {
      const int tile = schedule.tile(item);
      const int m = tile / p.column_tiles, n = tile - m * p.column_tiles;
      const int index0 = m * S::kRows + own, index1 = index0 + 8;
      const auto row_of = [&](int index) {
        return index >= count ? -1 : p.list ? p.list[index] : index;
      };
      int row0 = row_of(index0), row1 = row_of(index1);
      if constexpr (S::kMean != Mean::kNone) {
        row0 = written_row(p, row0);
        row1 = written_row(p, row1);
      }
      float sums[S::kColumns / 2];
      const int first_step = schedule.first_step(item);
      begin_sums<S>(p, sums, n, first_step == 0);
      multiply<S>(first_step, schedule.last_step(item), ring, sums, norms);
      if constexpr (S::kShares) {
        const uint32_t flag = ring.barriers + S::kBarrierBytes - 16;
        if (schedule.parts > 1 && !gather_parts<S>(p, item, schedule.parts, flag, sums)) continue;
      }
      if constexpr (S::kMode == Mode::kResidual) {
        add_sums<S>(p, ring, sums, n, row0, row1);
      } else {
        store_sums<S>(p, sums, n, row0 < 0 || !p.output_by_index ? row0 : index0,
                      row1 < 0 || !p.output_by_index ? row1 : index1);
      }
    }
  }
#endif
}

}  // namespace sact::cuda::hopper
