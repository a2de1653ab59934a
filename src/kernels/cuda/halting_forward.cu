#include "halting/halting.h"
#include "halting/hard.h"
#include "kernels/cuda/rows.cuh"

namespace sact::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kSpan = kLanes * kVector;  // channels that a warp takes at once
constexpr int kPoolWarps = 16;
constexpr int kFoldRows = 16;  // threads that share the images of a channel
constexpr int kTapRows = 4;    // rows that share one reading of the taps
constexpr int kTapWarps = 8;
constexpr int kProjectWarps = 8;
constexpr int kProjectBlocks = 528;  // blocks of threads, about: images are split to have as many
constexpr int kHaltThreads = 256, kMaxHaltThreads = 1024;
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
            value[i] = unit_output(value[i], residual[i], relu, x);
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

/// Rows of an image that one block of threads takes in add_and_project.
int project_rows(const BlockShape& shape) {
  const int blocks = shape.images * divide_up(shape.channels, kSpan);
  const int chunks = divide_up(kProjectBlocks, blocks), step = kProjectWarps * kTapRows;
  return divide_up(divide_up(shape.positions(), chunks), step) * step;
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

/// All that a channel has of a score's parameters.
struct ScoreChannel {
  NormChannel global, local;
  float global_weight = 0, weights[kTaps] = {};

  ScoreChannel() = default;
  __device__ ScoreChannel(const ScoreParameters& parameters, int channel)
      : global(parameters.global_norm, channel), global_weight(parameters.global[channel]) {
    if (!parameters.local) return;
    local = NormChannel(parameters.local_norm, channel);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      weights[tap] =
          parameters.local[channel * parameters.channel_stride + tap * parameters.tap_stride];
    }
  }
};

struct NormStatistics {
  float mean = 0, variance = 0;
};

/// The linear map that norms with these statistics and the weights after them are, in the
/// workspace; what it adds for this channel, in `shift`.
__device__ void fold_channel(const BlockShape& shape, const ScoreParameters& parameters,
                             const ScoreWorkspace& workspace, int channel, const ScoreChannel& of,
                             const NormStatistics& local, const NormStatistics& global,
                             float (&shift)[kShifts]) {
  const float global_inv_std = rsqrtf(global.variance + parameters.global_norm.epsilon);
  workspace.global_mean[channel] = global.mean;
  workspace.global_inv_std[channel] = global_inv_std;
  workspace.global[channel] = of.global_weight * of.global.scale * global_inv_std;
  // The mean is subtracted from what is pooled before the product (halt_kernel): the
  // means of images differ by little, and the difference of two large sums would be all rounding.
  shift[kTaps] = of.global_weight * of.global.shift;
  if (!parameters.local) return;
  const float inv_std = rsqrtf(local.variance + parameters.local_norm.epsilon);
  workspace.local_mean[channel] = local.mean;
  workspace.local_inv_std[channel] = inv_std;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const float scaled = of.weights[tap] * of.local.scale * inv_std;
    workspace.taps[int64_t(tap) * shape.channels + channel] = scaled;
    shift[tap] = of.weights[tap] * of.local.shift - scaled * local.mean;
  }
}

/// Adds up what the channels of a warp add, one block of channels.
__device__ void store_shifts(const float (&shift)[kShifts], const ScoreWorkspace& workspace) {
#pragma unroll
  for (int i = 0; i < kShifts; ++i) {
    const float total = warp_sum(shift[i]);
    if (threadIdx.x == 0) workspace.shifts[blockIdx.x * kShifts + i] = total;
  }
}

__global__ void fold_norms_kernel(BlockShape shape, ScoreParameters parameters,
                                  ScoreWorkspace workspace) {
  __shared__ double shared[kFoldRows][kLanes];
  const int channel = blockIdx.x * kLanes + threadIdx.x;
  const bool inside = channel < shape.channels;
  const int64_t channels = shape.channels;
  ScoreChannel of;
  if (inside && threadIdx.y == 0) of = ScoreChannel(parameters, channel);
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
    const NormStatistics global{float(mean), global_variance};
    const NormStatistics local{float(mean), float(fmax(mean_square - mean * mean, 0.0))};
    of.global.update_running(parameters.global_norm, channel, global.mean, global.variance,
                             float(shape.images));
    if (parameters.local) {
      of.local.update_running(parameters.local_norm, channel, local.mean, local.variance,
                              float(shape.rows()));
    }
    fold_channel(shape, parameters, workspace, channel, of, local, global, shift);
  }
  store_shifts(shift, workspace);
}

/// One block of threads: kLanes channels.
__global__ void fold_frozen_norms_kernel(BlockShape shape, ScoreParameters parameters,
                                         ScoreWorkspace workspace) {
  const int channel = blockIdx.x * kLanes + threadIdx.x;
  float shift[kShifts] = {};
  if (channel < shape.channels) {
    const ScoreChannel of(parameters, channel);
    fold_channel(shape, parameters, workspace, channel, of,
                 {of.local.running_mean, of.local.running_var},
                 {of.global.running_mean, of.global.running_var}, shift);
  }
  store_shifts(shift, workspace);
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

/// x' and, over kSpan channels of it, its sums over `chunk_rows` positions of one image,
/// [chunks, B, C], and the nine dot products of every row, [spans, 9, rows]. One block of threads:
/// blockIdx is span, chunk and image. Null `f` means that x' is x and is not written.
template <typename T>
__global__ void __launch_bounds__(kLanes* kProjectWarps, 2)
    add_and_project_kernel(BlockShape shape, const T* __restrict__ x, const T* __restrict__ f,
                           const uint8_t* __restrict__ active, bool relu,
                           const float* __restrict__ taps, int chunk_rows, T* __restrict__ result,
                           float* __restrict__ pooled_parts, float* __restrict__ tap_parts) {
  static_assert(kProjectWarps == kVector);
  __shared__ __align__(16) float weights[kTaps][kSpan];
  __shared__ float partial[kProjectWarps][kLanes][kVector + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int channel = blockIdx.x * kSpan + lane * kVector;
  const bool inside = channel < shape.channels;
  const int first_row = blockIdx.z * shape.positions(), rows = shape.rows();
  const int begin = blockIdx.y * chunk_rows, end = min(begin + chunk_rows, shape.positions());
  for (int index = warp * kLanes + lane; index < kTaps * kSpan; index += kProjectWarps * kLanes) {
    const int tap = index / kSpan, c = blockIdx.x * kSpan + index % kSpan;
    weights[tap][index % kSpan] =
        c < shape.channels ? taps[int64_t(tap) * shape.channels + c] : 0.0f;
  }
  __syncthreads();
  float sum[kVector] = {};
  for (int first = begin + warp * kTapRows; first < end; first += kProjectWarps * kTapRows) {
    float value[kTapRows][kVector] = {};
#pragma unroll
    for (int r = 0; r < kTapRows; ++r) {
      if (!inside || first + r >= end) continue;
      const int row = first_row + first + r;
      const int64_t at = int64_t(row) * shape.channels + channel;
      load(x + at, value[r]);
      if (f && (!active || active[row])) {
        float residual[kVector];
        load(f + at, residual);
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          value[r][i] = unit_output(value[r][i], residual[i], relu, x);
        }
      }
      if (f) store(value[r], result + at);
    }
    float dot[kTapRows * kTaps] = {};
#pragma unroll
    for (int r = 0; r < kTapRows; ++r) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) sum[i] += value[r][i];
    }
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      float weight[kVector];
      load(&weights[tap][lane * kVector], weight);
#pragma unroll
      for (int r = 0; r < kTapRows; ++r) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) dot[r * kTaps + tap] += value[r][i] * weight[i];
      }
    }
    int index, count;
    const float2 totals = warp_sums(dot, index, count);
    for (int i = 0; i < count; ++i) {
      const int r = (index + i) / kTaps, tap = (index + i) % kTaps;
      if (first + r >= end) continue;
      tap_parts[int64_t(blockIdx.x * kTaps + tap) * rows + first_row + first + r] =
          i == 0 ? totals.x : totals.y;
    }
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) partial[warp][lane][i] = sum[i];
  __syncthreads();
  if (!inside) return;
  // Warp w adds up channel w of every lane's vector.
  float total = 0;
  for (int w = 0; w < kProjectWarps; ++w) total += partial[w][lane][warp];
  const int64_t part = int64_t(blockIdx.y) * shape.images + blockIdx.z;
  pooled_parts[part * shape.channels + channel + warp] = total;
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

/// What is done with the score of a row before the sigmoid.
struct SoftHalting {
  float* score;
  HaltingRule rule;

  __device__ void operator()(int, int, int row, float argument) const {
    score[row] = argument;
    halt_row(row, halting_score(1.0f / (1.0f + expf(-argument)), rule.score_floor), rule);
  }
};

struct HardHalting {
  HardRule rule;

  __device__ void operator()(int image, int position, int row, float argument) const {
    const float noise = rule.noise ? rule.noise[image * rule.image_stride + position] : 0.0f;
    const float z = hard_argument(argument, rule.threshold, rule.steepness, noise);
    const bool goes_on = (!rule.active || rule.active[row]) && !hard_halts(z);
    rule.z[row] = z;
    rule.next_active[row] = goes_on;
    rule.count[row] = (rule.active ? rule.count[row] : 1.0f) + (goes_on ? 1.0f : 0.0f);
  }
};

/// What a score is added up from. `pooled` is null where the workspace has the means already.
struct ScoreParts {
  const float* taps = nullptr;  // [spans, 9, rows]; null for ACT
  int spans = 1;
  const float* pooled = nullptr;  // [chunks, B, C]: sums over positions
  int chunks = 0;
};

/// One block of threads: one image.
template <typename Halting>
__global__ void __launch_bounds__(kMaxHaltThreads)
    halt_kernel(BlockShape shape, ScoreWorkspace workspace, int channel_blocks,
                const float* __restrict__ bias, ScoreParts parts, Halting halting) {
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
  float* pooled = workspace.pooled + int64_t(blockIdx.x) * shape.channels;
  float sum = 0;
  for (int channel = threadIdx.x; channel < shape.channels; channel += blockDim.x) {
    if (parts.pooled) {
      float total = 0;
      for (int chunk = 0; chunk < parts.chunks; ++chunk) {
        const int64_t part = int64_t(chunk) * shape.images + blockIdx.x;
        total += parts.pooled[part * shape.channels + channel];
      }
      pooled[channel] = total / float(shape.positions());
    }
    sum += (pooled[channel] - workspace.global_mean[channel]) * workspace.global[channel];
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
    if (parts.taps) {
      const int y = position / shape.width, x = position % shape.width;
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const int dy = tap / 3 - 1, dx = tap % 3 - 1;
        if (y + dy < 0 || y + dy >= shape.height || x + dx < 0 || x + dx >= shape.width) continue;
        const int row = first + position + dy * shape.width + dx;
        for (int span = 0; span < parts.spans; ++span) {
          total += parts.taps[int64_t(span * kTaps + tap) * shape.rows() + row];
        }
        total += shift[tap];
      }
    }
    halting(blockIdx.x, position, first + position, total);
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
  return 2 * shape.images * channels + (4 + kTaps + 1) * channels +
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
  workspace.local_mean = take(channels);
  workspace.global_mean = take(channels);
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
  halt_kernel<<<shape.images, kHaltThreads, 0, stream>>>(
      shape, workspace, channel_blocks, parameters.bias,
      ScoreParts{parameters.local ? taps : nullptr}, SoftHalting{score, rule});
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

int64_t hard_step_floats(const BlockShape& shape) {
  const int64_t chunks = divide_up(shape.positions(), project_rows(shape));
  const int64_t spans = divide_up(shape.channels, kSpan);
  return chunks * shape.images * shape.channels + spans * kTaps * shape.rows();
}

void hard_step(Type type, const BlockShape& shape, const void* x, const void* f,
               const uint8_t* active, bool relu, void* result, const ScoreParameters& parameters,
               const ScoreWorkspace& workspace, float* scratch, const HardRule& rule,
               cudaStream_t stream) {
  const int channel_blocks = divide_up(shape.channels, kLanes);
  fold_frozen_norms_kernel<<<channel_blocks, kLanes, 0, stream>>>(shape, parameters, workspace);
  const int chunk_rows = project_rows(shape);
  const int chunks = divide_up(shape.positions(), chunk_rows);
  const int spans = divide_up(shape.channels, kSpan);
  float* pooled = scratch;
  float* taps = pooled + int64_t(chunks) * shape.images * shape.channels;
  const dim3 grid(spans, chunks, shape.images), block(kLanes, kProjectWarps);
  with_type(type, [&]<typename T>(const T*) {
    add_and_project_kernel<<<grid, block, 0, stream>>>(
        shape, static_cast<const T*>(x), static_cast<const T*>(f), active, relu, workspace.taps,
        chunk_rows, static_cast<T*>(result), pooled, taps);
  });
  const int wanted = divide_up(shape.positions(), kHaltThreads) * kHaltThreads;
  halt_kernel<<<shape.images, min(wanted, kMaxHaltThreads), 0, stream>>>(
      shape, workspace, channel_blocks, parameters.bias, ScoreParts{taps, spans, pooled, chunks},
      HardHalting{rule});
}

}  // namespace sact::cuda
