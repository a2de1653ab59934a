// What positions add to halting scores: dot products of their states with the nine taps and with
// the global weights.
#include "kernels/cuda/inference/around.cuh"
#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/tensor.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTogether = 4;  // rows of a warp at a time: weights are read once for them
constexpr int kDots = kTaps + 1;

/// States that have halted since the last scores stay in the band's sums; `places` are those of
/// them, in order. Returns this thread's part of global . sums.
template <typename T>
__device__ double add_halted(const Scores& p, int64_t first_row, const uint8_t* places, int count,
                             float* sums) {
  double dot = 0;
  const T* rows = static_cast<const T*>(p.input) + first_row * p.channels;
  if (p.channels % 2 != 0) {
    for (int c = int(threadIdx.x); c < p.channels; c += kThreads) {
      float sum = sums[c];
      for (int i = 0; i < count; ++i) sum += to_float(rows[int64_t(places[i]) * p.channels + c]);
      if (count > 0) sums[c] = sum;
      dot += double(sum) * double(p.global[c]);
    }
    return dot;
  }
  for (int c = 2 * int(threadIdx.x); c < p.channels; c += 2 * kThreads) {
    float2 sum = load_two(sums + c);
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const float2 state = load_two(rows + int64_t(places[i]) * p.channels + c);
      sum.x += state.x;
      sum.y += state.y;
    }
    if (count > 0) *reinterpret_cast<float2*>(sums + c) = sum;
    const float2 weight = load_two(p.global + c);
    dot += double(sum.x) * double(weight.x) + double(sum.y) * double(weight.y);
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

/// What the product before has left of active rows; four dot products at a time.
__device__ inline void add_planes(const Scores& p, int64_t first_row, int rows,
                                  const uint8_t* states, float* globals) {
  constexpr int kFours = kTapStride / 4;
  const int64_t plane = int64_t(p.grid.rows()) * kFours;
  for (int i = int(threadIdx.x); i < rows * kFours; i += kThreads) {
    const int at = i / kFours, four = i % kFours;
    if (states[at] != kActive) continue;
    const float4* from = reinterpret_cast<const float4*>(p.planes) + first_row * kFours + i;
    float4 sum = from[0];
#pragma unroll 8
    for (int n = 1; n < p.plane_count; ++n) {
      const float4 other = from[n * plane];
      sum.x += other.x;
      sum.y += other.y;
      sum.z += other.z;
      sum.w += other.w;
    }
    if (four == kTaps / 4) globals[at] = sum.y;
    if (!p.taps) continue;
    const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
    float* to = p.tap_values + (first_row + at) * kTapStride + four * 4;
    for (int k = 0; k < 4 && four * 4 + k < kTaps; ++k) {
      to[k] = sums[k] + p.tap_shifts[four * 4 + k];
    }
  }
}

/// Tap values of some rows of the band on tensor cores, 16 rows at a time. The warps share the
/// channels, each 32 of them in turn.
template <Element kType>
__device__ void multiply_rows(const Scores& p, int64_t first_row, const uint8_t* places, int count,
                              float (*parts)[16][16]) {
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int group = lane / 4, quad = lane % 4;
  const uint4* input = static_cast<const uint4*>(p.input) + first_row * (p.channels / 8);
  const uint4* weights = static_cast<const uint4*>(p.panels);
  for (int first = 0; first < count; first += 16) {
    const uint4* rows[2];
    for (int half = 0; half < 2; ++half) {  // the last row stands for those that are missing
      const int place = places[min(first + group + half * 8, count - 1)];
      rows[half] = input + int64_t(place) * (p.channels / 8);
    }
    float sums[2][4] = {};
#pragma unroll 4
    for (int chunk = warp; chunk < p.channels / 32; chunk += kWarps) {
      // A lane has eight channels that follow each other, of rows and weights alike: which of the
      // depth they stand for is all the same.
      const uint4 x0 = rows[0][chunk * 4 + quad], x1 = rows[1][chunk * 4 + quad];
      const uint32_t a[2][4] = {{x0.x, x1.x, x0.y, x1.y}, {x0.z, x1.z, x0.w, x1.w}};
      const int piece = chunk % 2 * 4 + quad;
#pragma unroll
      for (int n = 0; n < 2;
           ++n) {  // group is the row's place among eight, by which it is swizzled
        const uint4 w = weights[(chunk / 2 * 16 + n * 8 + group) * 8 + (piece ^ group)];
        tensor::multiply_16x8<kType>(sums[n], a[0], w.x, w.y);
        tensor::multiply_16x8<kType>(sums[n], a[1], w.z, w.w);
      }
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      for (int k = 0; k < 4; ++k) {
        parts[warp][group + k / 2 * 8][n * 8 + quad * 2 + k % 2] = sums[n][k];
      }
    }
    __syncthreads();
    const int row = thread / 16, tap = thread % 16;
    if (tap >= kTaps || first + row >= count) continue;
    float sum = parts[0][row][tap];
    for (int i = 1; i < kWarps; ++i) sum += parts[i][row][tap];
    p.tap_values[(first_row + places[first + row]) * kTapStride + tap] = sum + p.tap_shifts[tap];
  }
}

__device__ bool is_reached(const Scores& p, int64_t row) {
  return p.reached ? p.reached[row] != 0 : is_reached(p.grid, p.active, row);
}

/// All dot products of active rows, and taps of reached ones, lane by lane.
template <typename T>
__device__ void add_rows(const Scores& p, int64_t first_row, int rows, const uint8_t* states,
                         float* globals) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  for (int first = warp * kTogether; first < rows; first += kWarps * kTogether) {
    const T* inputs[kTogether];
    bool needed = false;
    for (int i = 0; i < kTogether; ++i) {
      const int at = first + i;
      const bool active = at < rows && states[at] == kActive;
      const bool wanted = active || (at < rows && p.taps && is_reached(p, first_row + at));
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
}

/// A block has a band of an image.
template <typename T, bool kPlanes>
__global__ void __launch_bounds__(kThreads) scores_kernel(Scores p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  __shared__ uint8_t states[kBandRows], halted[kBandRows], beside[kBandRows];
  __shared__ int halted_count, beside_count;
  __shared__ float globals[kBandRows];
  __shared__ double scratch[kThreads];
  const int bands = bands_of(p.grid.positions()), thread = int(threadIdx.x);
  const int image = int(blockIdx.x) / bands, band = int(blockIdx.x) % bands;
  const int rows = min(kBandRows, p.grid.positions() - band * kBandRows);
  const int64_t first_row = int64_t(image) * p.grid.positions() + band * kBandRows;
  // One warp lists, in order, who has halted since and who is a neighbour of active rows.
  if (thread < 32) {
    int halted_at = 0, beside_at = 0;
    for (int at = thread; at < kBandRows; at += 32) {
      const uint8_t state = at < rows ? p.active[first_row + at] : uint8_t(kHalted);
      states[at] = state;
      globals[at] = 0;
      const bool is_beside =
          kPlanes && p.taps && at < rows && state != kActive && is_reached(p, first_row + at);
      const unsigned lower = (1u << thread) - 1;
      const unsigned now = __ballot_sync(~0u, state == kHaltedNow);
      const unsigned near = __ballot_sync(~0u, is_beside);
      if (state == kHaltedNow) halted[halted_at + __popc(now & lower)] = uint8_t(at);
      if (is_beside) beside[beside_at + __popc(near & lower)] = uint8_t(at);
      halted_at += __popc(now);
      beside_at += __popc(near);
    }
    if (thread == 0) {
      halted_count = halted_at;
      beside_count = beside_at;
    }
  }
  __syncthreads();
  double sum = add_halted<T>(p, first_row, halted, halted_count,
                             p.halted_sums + int64_t(blockIdx.x) * p.channels);
  if constexpr (kPlanes) {
    __shared__ float parts[kWarps][16][16];
    add_planes(p, first_row, rows, states, globals);
    multiply_rows<element_of<T>()>(p, first_row, beside, beside_count, parts);
  } else {
    add_rows<T>(p, first_row, rows, states, globals);
  }
  __syncthreads();
  if (thread < kBandRows) sum += double(globals[thread]);
  const double total = block_sum(sum, scratch);
  if (thread == 0) p.band_sums[blockIdx.x] = total;
}

}  // namespace

void run(const Scores& call, Element type, const Launch& launch) {
  const int blocks = call.grid.images * bands_of(call.grid.positions());
  if (!call.planes) {
    with_element(type, [&](auto element) {
      start(scores_kernel<decltype(element), false>, blocks, kThreads, launch, call);
    });
  } else if (type == Element::kFloat16) {
    start(scores_kernel<__half, true>, blocks, kThreads, launch, call);
  } else {
    start(scores_kernel<__nv_bfloat16, true>, blocks, kThreads, launch, call);
  }
}

}  // namespace sact::cuda
