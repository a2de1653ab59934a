// The halting of a block on the device: scores, the rule, and what follows from it.
#include "halting/halting.h"
#include "kernels/cuda/inference/launch.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void start_halting_kernel(StartHalting p) {
  after_previous();
  const int64_t number = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (number < p.halted_values) p.halted_sums[number] = 0;
  if (number < p.going_on_count) p.going_on[number] = 0;
  if (number >= p.count) return;
  const HaltingState fresh = {};
  p.rows.cumulative[number] = fresh.cumulative;
  p.rows.remainders[number] = kNoMeanYet;
  p.rows.ponder[number] = fresh.ponder_cost;
  p.rows.units[number] = fresh.units;
  p.rows.active[number] = kActive;
  p.rows.reached[number] = 1;
}

/// What is the same for all positions of an image, for every thread of a block.
__device__ float global_term(const Halt& p, int image, double* scratch) {
  const int bands = bands_of(p.grid.positions());
  double sum = 0;
  if (bands <= 32) {  // every thread for itself: none waits for another
    for (int band = 0; band < bands; ++band) sum += p.band_sums[int64_t(image) * bands + band];
    return float(p.shift + sum / p.grid.positions());
  }
  for (int band = int(threadIdx.x); band < bands; band += kThreads) {
    sum += p.band_sums[int64_t(image) * bands + band];
  }
  return float(p.shift + block_sum(sum, scratch) / p.grid.positions());
}

__device__ float score_of(const Halt& p, int image, int position, float global) {
  float total = global;
  if (p.tap_values) {
    const int y = position / p.grid.width, x = position % p.grid.width;
    const int64_t first = int64_t(image) * p.grid.positions();
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const int ny = y + tap / 3 - 1, nx = x + tap % 3 - 1;
      const bool inside = ny >= 0 && ny < p.grid.height && nx >= 0 && nx < p.grid.width;
      const int64_t at = (first + (inside ? ny * p.grid.width + nx : position)) * kTapStride + tap;
      total += inside ? p.tap_values[at] : 0.0f;
    }
  }
  return halting_score(1.0f / (1.0f + expf(-total)), p.score_floor);
}

/// One step of the rule for a row that is active.
__device__ void step(const Halt& p, int64_t row, float score) {
  const float held = p.rows.remainders[row];
  HaltingState state;
  state.cumulative = p.rows.cumulative[row];
  state.remainder = held < 0 ? -held : held;
  state.ponder_cost = p.rows.ponder[row];
  state.units = p.rows.units[row];
  halting_step(state, score, p.threshold);
  p.rows.cumulative[row] = state.cumulative;
  p.rows.ponder[row] = state.ponder_cost;
  p.rows.units[row] = state.units;
  p.rows.active[row] = state.active ? kActive : kHaltedNow;
  if (!state.active) return;                    // its mean is whole
  if (p.going_on) *p.going_on = p.grid.rows();  // many threads may write the same
  constexpr float kLeast = 1e-30f;              // rounding may leave nothing; a sign shall stay
  const float remainder = state.remainder > kLeast ? state.remainder : kLeast;
  p.rows.remainders[row] = held == kNoMeanYet && remainder != kNoMeanYet ? -remainder : remainder;
}

/// Blocks have parts of images, so that all of a block's rows have the same global term.
struct Place {
  int image, position;
  bool inside;
};
__device__ Place place_of(const GridShape& grid) {
  const int parts = (grid.positions() + kThreads - 1) / kThreads;
  const int image = int(blockIdx.x) / parts;
  const int position = int(blockIdx.x) % parts * kThreads + int(threadIdx.x);
  return {image, position, position < grid.positions()};
}
int blocks_of(const GridShape& grid) {
  return grid.images * blocks_for(grid.positions(), kThreads);
}

__global__ void __launch_bounds__(kThreads) score_kernel(Halt p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  __shared__ double scratch[kThreads];
  const Place place = place_of(p.grid);
  const float global = global_term(p, place.image, scratch);
  const int64_t row = int64_t(place.image) * p.grid.positions() + place.position;
  if (!place.inside || p.rows.active[row] != kActive) return;
  p.scores[row] = score_of(p, place.image, place.position, global);
}

__global__ void __launch_bounds__(kThreads) halt_kernel(Halt p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  __shared__ double scratch[kThreads];
  const Place place = place_of(p.grid);
  const bool asks_score = !p.last && !p.scores && !p.prescribed;
  const float global = asks_score ? global_term(p, place.image, scratch) : 0.0f;
  if (!place.inside) return;
  const int64_t row = int64_t(place.image) * p.grid.positions() + place.position;
  if (p.rows.active[row] != kActive) {
    p.rows.active[row] = kHalted;
    return;
  }
  float score = 1;
  if (p.prescribed) {
    // The least that leaves a remainder below 1: means are kept as with scores of the network.
    constexpr float kLeast = 0x1p-24f;
    score = p.last || p.number + 1 >= p.prescribed[row] ? 1.0f : kLeast;
  } else if (!p.last) {
    score = p.scores ? p.scores[row] : score_of(p, place.image, place.position, global);
  }
  step(p, row, score);
}

__global__ void __launch_bounds__(kThreads) average_kernel(AverageTiles p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  const int across = (p.grid.width + p.tile - 1) / p.tile;
  const int down = (p.grid.height + p.tile - 1) / p.tile;
  const int number = int(blockIdx.x) * kThreads + int(threadIdx.x);
  if (number >= p.grid.images * across * down) return;
  const int image = number / (across * down), tile = number % (across * down);
  const int top = tile / across * p.tile, left = tile % across * p.tile;
  const int bottom = min(top + p.tile, p.grid.height), right = min(left + p.tile, p.grid.width);
  float* scores = p.scores + int64_t(image) * p.grid.positions();
  float sum = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) sum += scores[y * p.grid.width + x];
  }
  const float mean = sum / float((bottom - top) * (right - left));
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) scores[y * p.grid.width + x] = mean;
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) settle_kernel(Settle p) {
  after_previous();
  const int row = int(blockIdx.x) * (kThreads / 32) + int(threadIdx.x) / 32;
  if (row >= p.rows) return;
  if (p.remainders[row] == kNoMeanYet || p.units[row] == p.block_units) return;
  const int lane = int(threadIdx.x) % 32, bytes = p.channels * int(sizeof(T));
  const char* from = static_cast<const char*>(p.mean) + int64_t(row) * bytes;
  char* to = static_cast<char*>(p.stream) + int64_t(row) * bytes;
  if (bytes % 16 == 0) {
    for (int at = lane * 16; at < bytes; at += 512) {
      *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(from + at);
    }
    return;
  }
  for (int c = lane; c < p.channels; c += 32) {
    reinterpret_cast<T*>(to)[c] = reinterpret_cast<const T*>(from)[c];
  }
}

}  // namespace

void run(const StartHalting& call, const Launch& launch) {
  const int64_t rows = call.count > call.going_on_count ? call.count : call.going_on_count;
  const int64_t items = rows > call.halted_values ? rows : call.halted_values;
  start(start_halting_kernel, blocks_for(items, kThreads), kThreads, launch, call);
}

void run_scores(const Halt& call, const Launch& launch) {
  start(score_kernel, blocks_of(call.grid), kThreads, launch, call);
}

void run(const Halt& call, const Launch& launch) {
  start(halt_kernel, blocks_of(call.grid), kThreads, launch, call);
}

void run(const AverageTiles& call, const Launch& launch) {
  const int tiles =
      blocks_for(call.grid.width, call.tile) * blocks_for(call.grid.height, call.tile);
  start(average_kernel, blocks_for(int64_t(call.grid.images) * tiles, kThreads), kThreads, launch,
        call);
}

void run(const Settle& call, Element type, const Launch& launch) {
  with_element(type, [&](auto element) {
    start(settle_kernel<decltype(element)>, blocks_for(call.rows, kThreads / 32), kThreads, launch,
          call);
  });
}

}  // namespace sact::cuda
