// What positions add to halting scores: dot products of their states with the nine taps and with
// the global weights.
#include "kernels/cuda/inference/launch.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTogether = 4;  // rows of a warp at a time: weights are read once for them
constexpr int kDots = kTaps + 1;

/// States that have halted since the last scores stay in the band's sums. Returns this thread's
/// part of global . sums.
template <typename T>
__device__ double add_halted(const Scores& p, int64_t first_row, int rows, float* sums,
                             const uint8_t* states, bool any) {
  double dot = 0;
  for (int c = int(threadIdx.x); c < p.channels; c += kThreads) {
    float sum = sums[c];
    if (any) {
      for (int i = 0; i < rows; ++i) {
        if (states[i] != kHaltedNow) continue;
        sum += to_float(static_cast<const T*>(p.input)[(first_row + i) * p.channels + c]);
      }
      sums[c] = sum;
    }
    dot += double(sum) * double(p.global[c]);
  }
  return dot;
}

/// A channel of a few rows for all dot products; a null row is left out.
__device__ inline void add_channel(const Scores& p, int c, const float (&values)[kTogether],
                                   float (&sums)[kTogether][kDots]) {
  for (int dot = 0; dot < kDots; ++dot) {
    if (dot < kTaps && !p.taps) continue;
    const float weight = dot < kTaps ? p.taps[dot * p.channels + c] : p.global[c];
    for (int i = 0; i < kTogether; ++i) sums[i][dot] += values[i] * weight;
  }
}

/// Lane by lane, a part of the dot products. Two channels at a time, where they come in pairs.
template <typename T>
__device__ void add_products(const Scores& p, const T* const* rows,
                             float (&sums)[kTogether][kDots]) {
  const int lane = int(threadIdx.x) % 32;
  if (p.channels % 2 != 0) {
    for (int c = lane; c < p.channels; c += 32) {
      float values[kTogether];
      for (int i = 0; i < kTogether; ++i) values[i] = rows[i] ? to_float(rows[i][c]) : 0.0f;
      add_channel(p, c, values, sums);
    }
    return;
  }
  for (int c = 2 * lane; c < p.channels; c += 64) {
    float2 values[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      values[i] = rows[i] ? load_two(rows[i] + c) : make_float2(0, 0);
    }
#pragma unroll
    for (int dot = 0; dot < kDots; ++dot) {
      if (dot < kTaps && !p.taps) continue;
      const float2 weight = load_two(dot < kTaps ? p.taps + dot * p.channels + c : p.global + c);
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        sums[i][dot] += values[i].x * weight.x + values[i].y * weight.y;
      }
    }
  }
}

/// What the product before has left of active rows.
__device__ inline void add_planes(const Scores& p, int64_t first_row, int rows,
                                  const uint8_t* states, float* globals) {
  const int64_t plane = int64_t(p.grid.rows()) * kTapStride;
  for (int i = int(threadIdx.x); i < rows * kDots; i += kThreads) {
    const int at = i / kDots, dot = i % kDots;
    if (states[at] != kActive) continue;
    const int64_t place = (first_row + at) * kTapStride + dot;
    float sum = p.planes[place];
    for (int n = 1; n < p.plane_count; ++n) sum += p.planes[n * plane + place];
    if (dot == kTaps) {
      globals[at] = sum;
    } else if (p.taps) {
      p.tap_values[place] = sum + p.tap_shifts[dot];
    }
  }
}

/// A block has a band of an image.
template <typename T>
__global__ void __launch_bounds__(kThreads) scores_kernel(Scores p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  __shared__ uint8_t states[kBandRows];
  __shared__ float globals[kBandRows];
  __shared__ double scratch[kThreads];
  __shared__ int any;
  const int bands = bands_of(p.grid.positions()), thread = int(threadIdx.x);
  const int image = int(blockIdx.x) / bands, band = int(blockIdx.x) % bands;
  const int rows = min(kBandRows, p.grid.positions() - band * kBandRows);
  const int64_t first_row = int64_t(image) * p.grid.positions() + band * kBandRows;
  if (thread == 0) any = 0;
  __syncthreads();
  if (thread < kBandRows) {
    states[thread] = thread < rows ? p.active[first_row + thread] : uint8_t(kHalted);
    globals[thread] = 0;
    if (states[thread] == kHaltedNow) any = 1;
  }
  __syncthreads();
  double sum = add_halted<T>(p, first_row, rows, p.halted_sums + int64_t(blockIdx.x) * p.channels,
                             states, any != 0);
  if (p.planes) add_planes(p, first_row, rows, states, globals);
  const int warp = thread / 32, lane = thread % 32;
  for (int first = warp * kTogether; first < rows; first += kWarps * kTogether) {
    const T* inputs[kTogether];
    bool needed = false;
    for (int i = 0; i < kTogether; ++i) {
      const int at = first + i;
      const bool active = at < rows && states[at] == kActive;
      const bool reached = at < rows && p.taps && p.reached[first_row + at] != 0;
      const bool wanted = p.planes ? reached && !active : reached || active;
      inputs[i] = wanted ? static_cast<const T*>(p.input) + (first_row + at) * p.channels : nullptr;
      needed |= wanted;
    }
    if (!needed) continue;
    float sums[kTogether][kDots] = {};
    add_products(p, inputs, sums);
    for (int i = 0; i < kTogether; ++i) {
      for (int dot = 0; dot < kDots; ++dot) {
        for (int half = 16; half > 0; half /= 2) {
          sums[i][dot] += __shfl_xor_sync(~0u, sums[i][dot], half);
        }
      }
      const int at = first + i;
      if (lane > 0 || !inputs[i]) continue;
      if (states[at] == kActive) globals[at] = sums[i][kTaps];
      if (!p.taps) continue;
      float* values = p.tap_values + (first_row + at) * kTapStride;
      for (int tap = 0; tap < kTaps; ++tap) values[tap] = sums[i][tap] + p.tap_shifts[tap];
    }
  }
  __syncthreads();
  if (thread < kBandRows) sum += double(globals[thread]);
  const double total = block_sum(sum, scratch);
  if (thread == 0) p.band_sums[blockIdx.x] = total;
}

}  // namespace

void run(const Scores& call, Element type, const Launch& launch) {
  const int blocks = call.grid.images * bands_of(call.grid.positions());
  with_element(type, [&](auto element) {
    start(scores_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

}  // namespace sact::cuda
