#include "halting/halting.h"
#include "kernels/cuda/rows.cuh"

namespace sact::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kSpan = kLanes * kVector;  // channels that a warp takes at once
constexpr int kPoolWarps = 16;
constexpr int kFoldRows = 16;  // threads that share the images of a channel
constexpr int kTapRows = 4;    // rows that share one reading of the taps
constexpr int kTapWarps = 8;
constexpr int kShifts = kTaps + 1;  // of the taps, and of the global score

/// One block of threads: kSpan channels of one image.
template <typename T>
__global__ void add_and_pool_kernel(BlockShape shape, const T* __restrict__ x,
                                    const T* __restrict__ f, const uint8_t* __restrict__ active,
                                    bool relu, T* __restrict__ result, float* __restrict__ pooled,
                                    float* __restrict__ pooled_square) {
  __shared__ float partial[kPoolWarps][kLanes][kVector + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int channel = blockIdx.x * kSpan + lane * kVector;
  const int first = blockIdx.y * shape.positions();
  const bool inside = channel < shape.channels;
  float sum[kVector] = {}, square[kVector] = {};
  if (inside) {
#pragma unroll 4
    for (int position = warp; position < shape.positions(); position += kPoolWarps) {
      const int row = first + position;
      const int64_t at = int64_t(row) * shape.channels + channel;
      float value[kVector];
      load(x + at, value);
      if (f) {
        if (!active || active[row]) {
          float residual[kVector];
          load(f + at, residual);
#pragma unroll
          for (int i = 0; i < kVector; ++i) {
            value[i] = rounded(value[i] + residual[i], x);
            if (relu && value[i] < 0) value[i] = 0;  // NaN stays NaN
          }
        }
        store(value, result + at);
      }
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        sum[i] += value[i];
        square[i] += value[i] * value[i];
      }
    }
  }
  if (!pooled) return;
  const float scale = 1.0f / float(shape.positions());
  const int64_t out = int64_t(blockIdx.y) * shape.channels + channel;
  for (int pass = 0; pass < 2; ++pass) {
    float(&mine)[kVector] = pass == 0 ? sum : square;
#pragma unroll
    for (int i = 0; i < kVector; ++i) partial[warp][lane][i] = mine[i];
    __syncthreads();
    // Warp w adds up channel w of every lane's vector.
    if (warp < kVector && inside) {
      float total = 0;
      for (int w = 0; w < kPoolWarps; ++w) total += partial[w][lane][warp];
      (pass == 0 ? pooled : pooled_square)[out + warp] = total * scale;
    }
    __syncthreads();
  }
}

/// One channel of a norm, read before anything is written: a warp waits for what it writes, and
/// only then reads on.
struct NormChannel {
  float scale = 0, shift = 0, running_mean = 0, running_var = 0;

  __device__ NormChannel(const NormParameters& norm, int channel)
      : scale(norm.scale[channel]),
        shift(norm.shift[channel]),
        running_mean(norm.running_mean[channel]),
        running_var(norm.running_var[channel]) {}
  NormChannel() = default;

  __device__ void update_running(const NormParameters& norm, int channel, float mean,
                                 float variance, float count) const {
    const float keep = 1 - norm.momentum;
    norm.running_mean[channel] = keep * running_mean + norm.momentum * mean;
    norm.running_var[channel] = keep * running_var + norm.momentum * variance * count / (count - 1);
  }
};

/// Sums `value` over threadIdx.y; every thread of row 0 gets the sum of its lane.
__device__ double sum_rows(double value, double (&shared)[kFoldRows][kLanes]) {
  shared[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  double total = 0;
  for (int row = 0; row < kFoldRows; ++row) total += shared[row][threadIdx.x];
  __syncthreads();
  return total;
}

__global__ void fold_norms_kernel(BlockShape shape, ScoreParameters parameters,
                                  ScoreWorkspace workspace) {
  __shared__ double shared[kFoldRows][kLanes];
  const int channel = blockIdx.x * kLanes + threadIdx.x;
  const bool inside = channel < shape.channels;
  const int64_t channels = shape.channels;
  NormChannel global, local;
  float global_weight = 0, weights[kTaps] = {};
  if (inside && threadIdx.y == 0) {
    global = NormChannel(parameters.global_norm, channel);
    global_weight = parameters.global[channel];
    if (parameters.local) {
      local = NormChannel(parameters.local_norm, channel);
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        weights[tap] =
            parameters.local[channel * parameters.channel_stride + tap * parameters.tap_stride];
      }
    }
  }
  double sum = 0, square = 0;
#pragma unroll 4
  for (int image = threadIdx.y; inside && image < shape.images; image += kFoldRows) {
    sum += workspace.pooled[image * channels + channel];
    square += workspace.pooled_square[image * channels + channel];
  }
  const double mean = sum_rows(sum, shared) / shape.images;
  const double mean_square = sum_rows(square, shared) / shape.images;
  double spread = 0;  // of the images' means around their mean
#pragma unroll 4
  for (int image = threadIdx.y; inside && image < shape.images; image += kFoldRows) {
    const double difference = workspace.pooled[image * channels + channel] - mean;
    spread += difference * difference;
  }
  const float global_variance = float(sum_rows(spread, shared) / shape.images);
  if (threadIdx.y > 0) return;

  float shift[kShifts] = {};
  if (inside) {
    workspace.mean[channel] = float(mean);
    const float global_inv_std = rsqrtf(global_variance + parameters.global_norm.epsilon);
    workspace.global_inv_std[channel] = global_inv_std;
    global.update_running(parameters.global_norm, channel, float(mean), global_variance,
                          float(shape.images));
    workspace.global[channel] = global_weight * global.scale * global_inv_std;
    // The mean is subtracted from what is pooled before the product (halt_kernel): the
    // means of images differ by little, and the difference of two large sums would be all rounding.
    shift[kTaps] = global_weight * global.shift;
    if (parameters.local) {
      const float variance = float(fmax(mean_square - mean * mean, 0.0));
      const float inv_std = rsqrtf(variance + parameters.local_norm.epsilon);
      workspace.local_inv_std[channel] = inv_std;
      local.update_running(parameters.local_norm, channel, float(mean), variance,
                           float(shape.rows()));
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const float scaled = weights[tap] * local.scale * inv_std;
        workspace.taps[tap * channels + channel] = scaled;
        shift[tap] = weights[tap] * local.shift - scaled * float(mean);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kShifts; ++i) {
    const float total = warp_sum(shift[i]);
    if (threadIdx.x == 0) workspace.shifts[blockIdx.x * kShifts + i] = total;
  }
}

/// Adds up N values over the lanes of a warp. A lane hands on half of what it has in each of five
/// steps, so that N + 1 exchanges do it and every lane ends with the sums number `index` and, where
/// `count` is 2, index + 1.
template <int N>
__device__ float2 warp_sums(float (&value)[N], int& index, int& count) {
  static_assert(N <= 2 * kLanes);
  const int lane = threadIdx.x;
  index = 0, count = N;
  int size = N;
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    const int half = (size + 1) / 2;
    const bool upper = lane & offset;
#pragma unroll
    for (int i = 0; i < (N + 1) / 2; ++i) {
      if (i >= half) break;
      const float low = value[i], high = i + half < size ? value[i + half] : 0.0f;
      value[i] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, offset);
    }
    index += upper ? half : 0;
    count = upper ? count - half : min(count, half);
    size = half;
  }
  return make_float2(value[0], value[1]);
}

/// A warp takes kTapRows rows, so that it reads the taps once for all of them.
template <typename T>
__global__ void __launch_bounds__(kLanes* kTapWarps, 2)
    project_taps_kernel(BlockShape shape, const T* __restrict__ x, const float* __restrict__ taps,
                        float* __restrict__ result) {
  const int lane = threadIdx.x;
  const int first = (blockIdx.x * kTapWarps + threadIdx.y) * kTapRows;
  const int rows = shape.rows();
  float sum[kTapRows * kTaps] = {};
  for (int channel = lane * kVector; channel < shape.channels; channel += kSpan) {
    float value[kTapRows][kVector] = {};
#pragma unroll
    for (int r = 0; r < kTapRows; ++r) {
      if (first + r < rows) load(x + int64_t(first + r) * shape.channels + channel, value[r]);
    }
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      float weight[kVector];
      load(taps + int64_t(tap) * shape.channels + channel, weight);
#pragma unroll
      for (int r = 0; r < kTapRows; ++r) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) sum[r * kTaps + tap] += value[r][i] * weight[i];
      }
    }
  }
  int index, count;
  const float2 totals = warp_sums(sum, index, count);
  for (int i = 0; i < count; ++i) {
    const int r = (index + i) / kTaps, tap = (index + i) % kTaps;
    if (first + r < rows) result[int64_t(tap) * rows + first + r] = i == 0 ? totals.x : totals.y;
  }
}

__device__ void halt_row(int row, float h, const HaltingRule& rule) {
  HaltingState state;
  if (rule.unit > 0) {
    state.cumulative = rule.state.cumulative[row];
    state.remainder = rule.state.remainder[row];
    state.units = int(rule.state.units[row]);
    state.active = rule.active[row];
  }
  float p = 0;
  if (state.active) {
    p = halting_step(state, h, rule.threshold);
    rule.state.cumulative[row] = state.cumulative;
    rule.state.remainder[row] = state.remainder;
    rule.state.units[row] = float(state.units);
  }
  rule.weight[row] = p;
  if (rule.unit + 1 < rule.units) {
    rule.next_active[row] = state.active;
  } else {
    // Every position has halted now, and its remainder is what it had left when it did.
    rule.ponder_cost[row] = float(state.units) + state.remainder;
  }
}

/// One block of threads: one image. `taps` is null for ACT.
__global__ void halt_kernel(BlockShape shape, ScoreWorkspace workspace, int channel_blocks,
                            const float* __restrict__ bias, const float* __restrict__ taps,
                            float* __restrict__ score, HaltingRule rule) {
  __shared__ float shift[kShifts];
  __shared__ float partial[kLanes];
  __shared__ float global;
  const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const int warps = blockDim.x / kLanes;
  for (int i = warp; i < kShifts; i += warps) {
    float sum = 0;
    for (int block = lane; block < channel_blocks; block += kLanes) {
      sum += workspace.shifts[block * kShifts + i];
    }
    sum = warp_sum(sum);
    if (lane == 0) shift[i] = sum;
  }
  const float* pooled = workspace.pooled + int64_t(blockIdx.x) * shape.channels;
  float sum = 0;
  for (int channel = threadIdx.x; channel < shape.channels; channel += blockDim.x) {
    sum += (pooled[channel] - workspace.mean[channel]) * workspace.global[channel];
  }
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    global = *bias + shift[kTaps];
    for (int w = 0; w < warps; ++w) global += partial[w];
  }
  __syncthreads();
  const int first = blockIdx.x * shape.positions();
  for (int position = threadIdx.x; position < shape.positions(); position += blockDim.x) {
    float total = global;
    if (taps) {
      const int y = position / shape.width, x = position % shape.width;
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const int dy = tap / 3 - 1, dx = tap % 3 - 1;
        if (y + dy < 0 || y + dy >= shape.height || x + dx < 0 || x + dx >= shape.width) continue;
        const int row = first + position + dy * shape.width + dx;
        total += taps[int64_t(tap) * shape.rows() + row] + shift[tap];
      }
    }
    score[first + position] = total;
    halt_row(first + position, halting_score(1.0f / (1.0f + expf(-total)), rule.score_floor), rule);
  }
}

__global__ void halt_last_kernel(int rows, HaltingRule rule) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) halt_row(row, 1.0f, rule);
}

struct Pointers {
  const void* of[kMaxUnits];
};

template <typename T>
__global__ void weighted_sum_kernel(BlockShape shape, int units, Pointers x,
                                    const float* __restrict__ weights, T* __restrict__ output) {
  const int vectors = shape.channels / kVector;
  const int64_t index = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= int64_t(shape.rows()) * vectors) return;
  const int row = int(index / vectors);
  const int64_t at = index * kVector;
  float sum[kVector] = {};
#pragma unroll 4
  for (int unit = 0; unit < units; ++unit) {
    const float p = weights[int64_t(unit) * shape.rows() + row];
    if (p == 0) continue;
    float value[kVector];
    load(static_cast<const T*>(x.of[unit]) + at, value);
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum[i] += p * value[i];
  }
  store(sum, output + at);
}

}  // namespace

int64_t ScoreWorkspace::floats(const BlockShape& shape) {
  const int64_t channels = shape.channels;
  return 2 * shape.images * channels + (3 + kTaps + 1) * channels +
         kShifts * divide_up(shape.channels, kLanes);
}

ScoreWorkspace ScoreWorkspace::in(float* memory, const BlockShape& shape) {
  ScoreWorkspace workspace;
  auto take = [&](int64_t count) {
    float* part = memory;
    memory += count;
    return part;
  };
  const int64_t channels = shape.channels;
  workspace.pooled = take(shape.images * channels);
  workspace.pooled_square = take(shape.images * channels);
  workspace.taps = take(kTaps * channels);
  workspace.mean = take(channels);
  workspace.local_inv_std = take(channels);
  workspace.global_inv_std = take(channels);
  workspace.global = take(channels);
  workspace.shifts = take(kShifts * divide_up(shape.channels, kLanes));
  return workspace;
}

void add_and_pool(Type type, const BlockShape& shape, const void* x, const void* f,
                  const uint8_t* active, bool relu, void* result, const ScoreWorkspace* workspace,
                  cudaStream_t stream) {
  const dim3 grid(divide_up(shape.channels, kSpan), shape.images), block(kLanes, kPoolWarps);
  with_type(type, [&]<typename T>(const T*) {
    add_and_pool_kernel<<<grid, block, 0, stream>>>(
        shape, static_cast<const T*>(x), static_cast<const T*>(f), active, relu, static_cast<T*>(result),
        workspace ? workspace->pooled : nullptr, workspace ? workspace->pooled_square : nullptr);
  });
}

void scores(Type type, const BlockShape& shape, const void* x, const ScoreParameters& parameters,
            const ScoreWorkspace& workspace, float* taps, float* score, const HaltingRule& rule,
            cudaStream_t stream) {
  const int channel_blocks = divide_up(shape.channels, kLanes);
  fold_norms_kernel<<<channel_blocks, dim3(kLanes, kFoldRows), 0, stream>>>(shape, parameters,
                                                                            workspace);
  if (parameters.local) {
    const int blocks = divide_up(shape.rows(), kTapRows * kTapWarps);
    with_type(type, [&]<typename T>(const T*) {
      project_taps_kernel<<<blocks, dim3(kLanes, kTapWarps), 0, stream>>>(
          shape, static_cast<const T*>(x), workspace.taps, taps);
    });
  }
  halt_kernel<<<shape.images, 256, 0, stream>>>(shape, workspace, channel_blocks, parameters.bias,
                                                parameters.local ? taps : nullptr, score, rule);
}

void halt_last(int rows, const HaltingRule& rule, cudaStream_t stream) {
  halt_last_kernel<<<divide_up(rows, 256), 256, 0, stream>>>(rows, rule);
}

void weighted_sum(Type type, const BlockShape& shape, int units, const void* const* x,
                  const float* weights, void* output, cudaStream_t stream) {
  Pointers pointers;
  for (int unit = 0; unit < units; ++unit) pointers.of[unit] = x[unit];
  const int64_t vectors = int64_t(shape.rows()) * (shape.channels / kVector);
  with_type(type, [&]<typename T>(const T*) {
    weighted_sum_kernel<<<int((vectors + 255) / 256), 256, 0, stream>>>(
        shape, units, pointers, weights, static_cast<T*>(output));
  });
}

}  // namespace sact::cuda
