#include "halting/halting.h"
#include "halting/hard.h"
#include "kernels/cuda/rows.cuh"

namespace sact::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kSpan = kLanes * kVector;  // channels that a warp takes at once
constexpr int kSumWarps = 8;
constexpr int kSumUnits = 4;  // units whose streams are read at once
constexpr int kImageThreads = 128;
constexpr int kReduceWarps = 8;
constexpr int kReduceTaps = 3;      // taps whose sums are added up at once over the warps
constexpr int kReduceBlocks = 256;  // blocks of threads, about: rows are split to have as many
constexpr int kReduceBatch = 4;     // rows that a warp reads at once
constexpr int kTileRows = 128;      // rows whose taps' gradients are gathered at once
constexpr int kTileTaps = 12;       // kTaps, padded to whole vectors
constexpr int kUnfoldRows = 16;
constexpr int kUnfoldBatch = 8;  // images that are read at once
constexpr int kStreamWarps = 8;
constexpr int kStreamBlocks = 264;  // likewise

struct Pointers {
  const void* x[kMaxUnits];
  const float* score[kMaxUnits];
};

__device__ float sigmoid(float value) {
  return 1.0f / (1.0f + expf(-value));
}

/// Given N, a unit before the last has the weight h, the last one 1 - sum of h, and rho = N + that.
/// So d/dh_l = dp_l - dp_N - d rho for l < N, and 0 after. One warp takes one row.
template <typename T>
__global__ void weighted_sum_backward_kernel(
    BlockShape shape, int units, Pointers pointers, const float* __restrict__ weights,
    const float* __restrict__ unit_counts, bool per_image, bool relu, float slope_floor,
    float score_floor,
    const T* __restrict__ output_gradient, const float* __restrict__ cost_gradient,
    T* __restrict__ last_gradient, float* __restrict__ score_gradients) {
  __shared__ float weight_gradient[kSumWarps][kMaxUnits];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.x * kSumWarps + warp;
  const int rows = shape.rows();
  if (row >= rows) return;
  const int count = int(unit_counts[row]);
  const int64_t start = int64_t(row) * shape.channels;
  for (int first = 0; first < count; first += kSumUnits) {
    float sum[kSumUnits] = {};
    for (int channel = lane * kVector; channel < shape.channels; channel += kSpan) {
      float gradient[kVector], value[kSumUnits][kVector] = {};
      load(output_gradient + start + channel, gradient);
#pragma unroll
      for (int u = 0; u < kSumUnits; ++u) {
        if (first + u >= count) break;
        load(static_cast<const T*>(pointers.x[first + u]) + start + channel, value[u]);
      }
#pragma unroll
      for (int u = 0; u < kSumUnits; ++u) {
#pragma unroll
        for (int i = 0; i < kVector; ++i) sum[u] += gradient[i] * value[u][i];
      }
    }
#pragma unroll
    for (int u = 0; u < kSumUnits; ++u) {
      const float total = warp_sum(sum[u]);
      if (lane == 0 && first + u < count) weight_gradient[warp][first + u] = total;
    }
  }
  // Zero where the row halted before.
  const float last_weight = weights[int64_t(units - 1) * rows + row];
  for (int channel = lane * kVector; channel < shape.channels; channel += kSpan) {
    float gradient[kVector] = {}, value[kVector] = {};
    if (last_weight != 0) {
      load(output_gradient + start + channel, gradient);
      if (relu) load(static_cast<const T*>(pointers.x[units - 1]) + start + channel, value);
    }
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      gradient[i] = relu && value[i] <= 0 ? 0.0f : gradient[i] * last_weight;
    }
    store(gradient, last_gradient + start + channel);
  }
  __syncwarp();
  const float at_halt =
      weight_gradient[warp][count - 1] + (cost_gradient ? cost_gradient[row] : 0.0f);
  for (int unit = lane; unit < units - 1; unit += kLanes) {
    float gradient = 0;
    if (unit < count - 1) {
      gradient = weight_gradient[warp][unit] - at_halt;
      if (!per_image) {
        gradient *=
            halting_slope(sigmoid(pointers.score[unit][row]), gradient, slope_floor, score_floor);
      }
    }
    score_gradients[int64_t(unit) * rows + row] = gradient;
  }
}

/// Sums of the scores' gradients over an image; where it has one score, its gradient. One block of
/// threads: one unit of one image.
__global__ void image_gradients_kernel(BlockShape shape, Pointers pointers, bool per_image,
                                       float slope_floor, float score_floor,
                                       const float* __restrict__ score_gradients,
                                       float* __restrict__ image_gradients) {
  __shared__ float partial[kImageThreads / kLanes];
  const int image = blockIdx.x, unit = blockIdx.y;
  const int first = image * shape.positions();
  const float* gradients = score_gradients + int64_t(unit) * shape.rows() + first;
  float sum = 0;
  for (int position = threadIdx.x; position < shape.positions(); position += kImageThreads) {
    sum += gradients[position];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % kLanes == 0) partial[threadIdx.x / kLanes] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  float total = 0;
  for (float part : partial) total += part;
  if (per_image) {
    total *= halting_slope(sigmoid(pointers.score[unit][first]), total, slope_floor, score_floor);
  }
  image_gradients[int64_t(unit) * shape.images + image] = total;
}

/// The gradients of the taps' dot products at `count` rows from `first`: each is that of the score
/// which reads it. All threads of a block call this; what they gathered is there after a barrier.
__device__ void gather_taps(const BlockShape& shape, const float* __restrict__ score_gradient,
                            int first, int count, float (&result)[kTileRows][kTileTaps]) {
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int index = thread; index < count * kTaps; index += threads) {
    const int row = first + index / kTaps, tap = index % kTaps;
    const int position = row % shape.positions();
    const int y = position / shape.width - (tap / 3 - 1),
              x = position % shape.width - (tap % 3 - 1);
    const bool inside = y >= 0 && y < shape.height && x >= 0 && x < shape.width;
    result[index / kTaps][tap] =
        inside ? score_gradient[row - position + y * shape.width + x] : 0.0f;
  }
}

/// One row of them.
__device__ void load_taps(const float (&from)[kTileTaps], float (&to)[kTileTaps]) {
#pragma unroll
  for (int i = 0; i < kTileTaps; i += 4) {
    const float4 part = *reinterpret_cast<const float4*>(from + i);
    to[i] = part.x, to[i + 1] = part.y, to[i + 2] = part.z, to[i + 3] = part.w;
  }
}

/// Sums over a part of the rows of x times the taps' gradients: [chunks, 9, C], and of the taps'
/// gradients alone: [chunks, 9]. One block of threads: kSpan channels of one part.
template <typename T>
__global__ void __launch_bounds__(kLanes* kReduceWarps, 2)
    tap_gradients_kernel(BlockShape shape, const T* __restrict__ x,
                         const float* __restrict__ score_gradient, int chunk_rows,
                         float* __restrict__ sums, float* __restrict__ shift_sums) {
  __shared__ __align__(16) float taps[kTileRows][kTileTaps];
  __shared__ __align__(16) float partial[kReduceWarps][kReduceTaps][kSpan];
  const int lane = threadIdx.x, warp = threadIdx.y, thread = warp * kLanes + lane;
  const int channel = blockIdx.y * kSpan + lane * kVector;
  const bool inside = channel < shape.channels;
  const int begin = blockIdx.x * chunk_rows, end = min(begin + chunk_rows, shape.rows());
  float sum[kTaps][kVector] = {}, shift = 0;
  for (int tile = begin; tile < end; tile += kTileRows) {
    const int count = min(kTileRows, end - tile);
    __syncthreads();
    gather_taps(shape, score_gradient, tile, count, taps);
    __syncthreads();
    if (lane < kTaps) {
      for (int r = warp; r < count; r += kReduceWarps) shift += taps[r][lane];
    }
    if (!inside) continue;
    for (int first = warp; first < count; first += kReduceWarps * kReduceBatch) {
      float value[kReduceBatch][kVector] = {};
#pragma unroll
      for (int b = 0; b < kReduceBatch; ++b) {
        const int r = first + b * kReduceWarps;
        if (r < count) load(x + int64_t(tile + r) * shape.channels + channel, value[b]);
      }
#pragma unroll
      for (int b = 0; b < kReduceBatch; ++b) {
        const int r = first + b * kReduceWarps;
        if (r >= count) break;
        float gradient[kTileTaps];
        load_taps(taps[r], gradient);
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
          for (int i = 0; i < kVector; ++i) sum[tap][i] += gradient[tap] * value[b][i];
        }
      }
    }
  }
#pragma unroll
  for (int first = 0; first < kTaps; first += kReduceTaps) {
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kReduceTaps; ++t) store(sum[first + t], &partial[warp][t][lane * kVector]);
    __syncthreads();
    for (int index = thread; index < kReduceTaps * kSpan; index += kLanes * kReduceWarps) {
      const int tap = index / kSpan, c = index % kSpan;
      if (int(blockIdx.y) * kSpan + c >= shape.channels) continue;
      float total = 0;
      for (int w = 0; w < kReduceWarps; ++w) total += partial[w][tap][c];
      sums[(int64_t(blockIdx.x) * kTaps + first + tap) * shape.channels + blockIdx.y * kSpan + c] =
          total;
    }
  }
  if (blockIdx.y > 0) return;
  __syncthreads();
  if (lane < kTaps) taps[warp][lane] = shift;
  __syncthreads();
  if (thread < kTaps) {
    float total = 0;
    for (int w = 0; w < kReduceWarps; ++w) total += taps[w][thread];
    shift_sums[blockIdx.x * kTaps + thread] = total;
  }
}

/// What the statistics pass on to x: offset[b, c] + slope[c] * x. Null where norms are frozen.
struct StreamTerms {
  float *offset = nullptr, *slope = nullptr;
};

__device__ float sum_rows(float value, float (&shared)[kUnfoldRows][kLanes]) {
  shared[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  float total = 0;
  for (int row = 0; row < kUnfoldRows; ++row) total += shared[row][threadIdx.x];
  __syncthreads();
  return total;
}

/// What is written comes after everything that is read: a warp waits for what it writes, and only
/// then reads on.
__global__ void unfold_norms_kernel(BlockShape shape, ScoreParameters parameters,
                                    ScoreWorkspace workspace, int chunks,
                                    const float* __restrict__ sums,
                                    const float* __restrict__ shift_sums,
                                    const float* __restrict__ image_gradient,
                                    ScoreGradients gradients, StreamTerms terms) {
  __shared__ float shared[kUnfoldRows][kLanes];
  __shared__ float tap_sums[kUnfoldRows][kTaps][kLanes], tap_totals[kTaps][kLanes];
  __shared__ float shift[kTaps];
  const int lane = threadIdx.x, line = threadIdx.y;
  const int channel = blockIdx.x * kLanes + lane;
  const bool inside = channel < shape.channels;
  const int64_t channels = shape.channels;
  const float rows = float(shape.rows()), images = float(shape.images);
  auto of = [&](const float* values) { return inside ? values[channel] : 0.0f; };
  const float mean = of(workspace.global_mean), folded = of(workspace.global);
  const NormParameters &global_norm = parameters.global_norm, &local_norm = parameters.local_norm;
  const float global_weight = of(parameters.global), global_scale = of(global_norm.scale);
  const float global_shift = of(global_norm.shift), global_inv_std = of(workspace.global_inv_std);
  float mean_gradient = 0, slope = 0;

  if (parameters.local) {
    const float scale = of(local_norm.scale), offset = of(local_norm.shift);
    const float local_mean = of(workspace.local_mean), inv_std = of(workspace.local_inv_std);
    float weight[kTaps] = {};
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const int64_t at = channel * parameters.channel_stride + tap * parameters.tap_stride;
      weight[tap] = inside ? parameters.local[at] : 0.0f;
    }
    for (int tap = line; tap < kTaps; tap += kUnfoldRows) {
      float sum = 0;
      for (int chunk = lane; chunk < chunks; chunk += kLanes)
        sum += shift_sums[chunk * kTaps + tap];
      sum = warp_sum(sum);
      if (lane == 0) shift[tap] = sum;
    }
    float sum[kTaps] = {};
#pragma unroll 2
    for (int chunk = line; inside && chunk < chunks; chunk += kUnfoldRows) {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        sum[tap] += sums[(int64_t(chunk) * kTaps + tap) * channels + channel];
      }
    }
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) tap_sums[line][tap][lane] = sum[tap];
    __syncthreads();
    if (line < kTaps) {
      float total = 0;
      for (int other = 0; other < kUnfoldRows; ++other) total += tap_sums[other][line][lane];
      tap_totals[line][lane] = total;
    }
    __syncthreads();
    float scale_gradient = 0, shift_gradient = 0;
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      const float centred = tap_totals[tap][lane] - local_mean * shift[tap];
      scale_gradient += weight[tap] * centred;  // times inv_std
      shift_gradient += weight[tap] * shift[tap];
      if (inside && line == 0) {
        gradients.local[channel * parameters.channel_stride + tap * parameters.tap_stride] =
            scale * inv_std * centred + offset * shift[tap];
      }
    }
    const float variance_gradient = -0.5f * inv_std * inv_std * inv_std * scale * scale_gradient;
    slope = 2 * variance_gradient / rows;
    mean_gradient = -scale * inv_std * shift_gradient / rows - slope * local_mean;
    if (inside && line == 0 && gradients.local_scale) {
      gradients.local_scale[channel] = inv_std * scale_gradient;
      gradients.local_shift[channel] = shift_gradient;
    }
  }

  float sum = 0, total = 0;
#pragma unroll 4
  for (int image = line; image < shape.images; image += kUnfoldRows) {
    const float gradient = image_gradient[image];
    total += gradient;
    if (inside) sum += gradient * (workspace.pooled[image * channels + channel] - mean);
  }
  const float centred = sum_rows(sum, shared);
  total = sum_rows(total, shared);
  if (!inside) return;
  const float variance_gradient = -0.5f * global_inv_std * global_inv_std * global_inv_std *
                                  global_weight * global_scale * centred;
  const float positions = float(shape.positions());
  for (int first = line; terms.offset && first < shape.images;
       first += kUnfoldRows * kUnfoldBatch) {
    float pooled[kUnfoldBatch], gradient[kUnfoldBatch];
#pragma unroll
    for (int i = 0; i < kUnfoldBatch; ++i) {
      const int image = min(first + i * kUnfoldRows, shape.images - 1);
      pooled[i] = workspace.pooled[image * channels + channel];
      gradient[i] = image_gradient[image];
    }
#pragma unroll
    for (int i = 0; i < kUnfoldBatch; ++i) {
      const int image = first + i * kUnfoldRows;
      if (image >= shape.images) break;
      const float pooled_gradient = folded * gradient[i] - folded * total / images +
                                    2 * variance_gradient * (pooled[i] - mean) / images;
      terms.offset[image * channels + channel] = pooled_gradient / positions + mean_gradient;
    }
  }
  if (line > 0) return;
  gradients.global[channel] = global_scale * global_inv_std * centred + global_shift * total;
  if (gradients.global_scale) {
    gradients.global_scale[channel] = global_weight * global_inv_std * centred;
    gradients.global_shift[channel] = global_weight * total;
  }
  if (channel == 0) *gradients.bias = total;
  if (terms.slope) terms.slope[channel] = slope;
}

/// One block of threads: kSpan channels of `chunk_rows` rows.
template <typename T>
__global__ void __launch_bounds__(kLanes* kStreamWarps, 2)
    stream_gradients_kernel(BlockShape shape, const T* __restrict__ x,
                            const float* __restrict__ taps, StreamTerms terms,
                            const uint8_t* __restrict__ active, bool relu, StreamGradients from,
                            const float* __restrict__ score_gradient, int chunk_rows,
                            T* __restrict__ x_gradient, T* __restrict__ f_gradient) {
  __shared__ __align__(16) float tap_gradients[kTileRows][kTileTaps];
  const int begin = blockIdx.x * chunk_rows, end = min(begin + chunk_rows, shape.rows());
  if (taps) {
    gather_taps(shape, score_gradient, begin, end - begin, tap_gradients);
    __syncthreads();
  }
  const int channel = blockIdx.y * kSpan + threadIdx.x * kVector;
  if (channel >= shape.channels) return;
  const T* first = static_cast<const T*>(from.first);
  const T* second = static_cast<const T*>(from.second);
  const T* output = static_cast<const T*>(from.output);
  float offset[kVector], slope[kVector], weight[kTaps][kVector];
  load(terms.slope + channel, slope);
  if (taps) {
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      load(taps + int64_t(tap) * shape.channels + channel, weight[tap]);
    }
  }
  int loaded_image = -1;
  for (int row = begin + threadIdx.y; row < end; row += kStreamWarps) {
    const int64_t at = int64_t(row) * shape.channels + channel;
    float value[kVector] = {}, other[kVector] = {}, stream[kVector] = {}, whole[kVector] = {};
    const float p = output ? from.weight[row] : 0.0f;
    if (first) load(first + at, value);
    if (second) load(second + at, other);
    if (p != 0) load(output + at, whole);
    if (taps || relu) load(x + at, stream);
    const int image = row / shape.positions();
    if (image != loaded_image) {
      load(terms.offset + int64_t(image) * shape.channels + channel, offset);
      loaded_image = image;
    }
#pragma unroll
    for (int i = 0; i < kVector; ++i) value[i] += other[i] + p * whole[i] + offset[i];
    if (taps) {
      float gradient[kTileTaps];
      load_taps(tap_gradients[row - begin], gradient);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        value[i] += slope[i] * stream[i];
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) value[i] += gradient[tap] * weight[tap][i];
      }
    }
    const bool added = f_gradient && (!active || active[row]);  // and not x itself
    if (relu && added) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) value[i] = stream[i] <= 0 ? 0.0f : value[i];
    }
    store(value, x_gradient + at);
    if (!f_gradient) continue;
    if (!added) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) value[i] = 0;
    }
    store(value, f_gradient + at);
  }
}

/// The gradients of hard.h for one unit: those of the score's argument into `score_gradient`. One
/// warp takes one row.
template <typename T>
__global__ void hard_gradients_kernel(BlockShape shape, const T* __restrict__ x,
                                      const T* __restrict__ f, HardDecision decision, bool relu,
                                      StreamGradients from, ActiveGradients active_gradients,
                                      float* __restrict__ score_gradient,
                                      T* __restrict__ x_gradient, T* __restrict__ f_gradient) {
  const int lane = threadIdx.x, row = blockIdx.x * kSumWarps + threadIdx.y;
  if (row >= shape.rows()) return;
  const bool was_active = !decision.was_active || decision.was_active[row];
  const bool active = decision.active[row];
  const float z = decision.z[row];
  const bool read = was_active || !hard_halts(z);  // elsewhere dA is of no use
  const T* first = static_cast<const T*>(from.first);
  const T* second = static_cast<const T*>(from.second);
  float sum = 0;
  for (int channel = lane * kVector; channel < shape.channels; channel += kSpan) {
    const int64_t at = int64_t(row) * shape.channels + channel;
    float gradient[kVector] = {}, other[kVector] = {}, stream[kVector] = {}, residual[kVector] = {};
    if (first) load(first + at, gradient);
    if (second) load(second + at, other);
    if (read) load(f + at, residual);
    if (read && relu) load(x + at, stream);
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      gradient[i] += other[i];
      const float output = unit_output(stream[i], residual[i], relu, x);
      sum += gradient[i] * hard_change(stream[i], residual[i], output, relu);
      if (active && relu && output <= 0) gradient[i] = 0;
    }
    store(gradient, x_gradient + at);
    if (!active) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) gradient[i] = 0;
    }
    store(gradient, f_gradient + at);
  }
  sum = warp_sum(sum);
  if (lane > 0) return;
  if (active_gradients.later) sum += active_gradients.later[row];
  const HardGradients found = hard_gradients(sum, was_active, z, sigmoid(z));
  score_gradient[row] = found.z / decision.steepness;
  active_gradients.before[row] =
      found.before + (active_gradients.cost ? active_gradients.cost[row] : 0.0f);
}

/// Parts that the rows are split into, so that there are about kReduceBlocks blocks of threads.
int chunk_count(const BlockShape& shape) {
  const int wanted = divide_up(kReduceBlocks, divide_up(shape.channels, kSpan));
  return max(1, min(wanted, divide_up(shape.rows(), kReduceWarps)));
}

/// Rows of a block of threads in stream_gradients: what is read once is shared by as many as leave
/// every multiprocessor two blocks.
int stream_rows(const BlockShape& shape) {
  const int wanted = divide_up(shape.rows() * divide_up(shape.channels, kSpan), kStreamBlocks);
  return max(2 * kStreamWarps, min(wanted, kTileRows));
}

/// What the gradients of a score's parameters are added up from.
struct ParameterScratch {
  float *sums, *shift_sums;  // [chunks, 9, C], [chunks, 9]
  float* end;

  static int64_t floats(const BlockShape& shape) {
    const int64_t chunks = chunk_count(shape);
    return chunks * kTaps * shape.channels + chunks * kTaps;
  }
  static ParameterScratch in(float* memory, const BlockShape& shape) {
    const int64_t chunks = chunk_count(shape);
    float* shift_sums = memory + chunks * kTaps * shape.channels;
    return {memory, shift_sums, shift_sums + chunks * kTaps};
  }
};

/// tap_gradients and unfold_norms. `terms` of nulls: none are wanted.
template <typename T>
void parameter_gradients(const BlockShape& shape, const T* x, const ScoreParameters& parameters,
                         const ScoreWorkspace& workspace, const float* score_gradient,
                         const float* image_gradient, const ParameterScratch& scratch,
                         const ScoreGradients& gradients, const StreamTerms& terms,
                         cudaStream_t stream) {
  const int chunks = chunk_count(shape);
  if (parameters.local) {
    const dim3 grid(chunks, divide_up(shape.channels, kSpan));
    tap_gradients_kernel<<<grid, dim3(kLanes, kReduceWarps), 0, stream>>>(
        shape, x, score_gradient, divide_up(shape.rows(), chunks), scratch.sums,
        scratch.shift_sums);
  }
  unfold_norms_kernel<<<divide_up(shape.channels, kLanes), dim3(kLanes, kUnfoldRows), 0, stream>>>(
      shape, parameters, workspace, chunks, scratch.sums, scratch.shift_sums, image_gradient,
      gradients, terms);
}

}  // namespace

void weighted_sum_backward(Type type, const BlockShape& shape, int units, const void* const* x,
                           const float* weights, const float* unit_counts,
                           const float* const* scores, bool per_image, bool relu, float slope_floor,
                           float score_floor, const void* output_gradient,
                           const float* cost_gradient, const SumGradients& gradients,
                           cudaStream_t stream) {
  Pointers pointers = {};
  for (int unit = 0; unit < units; ++unit) {
    pointers.x[unit] = x[unit];
    pointers.score[unit] = unit + 1 < units ? scores[unit] : nullptr;
  }
  const int blocks = divide_up(shape.rows(), kSumWarps);
  with_type(type, [&]<typename T>(const T*) {
    weighted_sum_backward_kernel<<<blocks, dim3(kLanes, kSumWarps), 0, stream>>>(
        shape, units, pointers, weights, unit_counts, per_image, relu, slope_floor, score_floor,
        static_cast<const T*>(output_gradient), cost_gradient,
        static_cast<T*>(gradients.last_gradient), gradients.score_gradients);
  });
  if (units < 2) return;
  image_gradients_kernel<<<dim3(shape.images, units - 1), kImageThreads, 0, stream>>>(
      shape, pointers, per_image, slope_floor, score_floor, gradients.score_gradients,
      gradients.image_gradients);
}

int64_t score_backward_floats(const BlockShape& shape) {
  return ParameterScratch::floats(shape) + int64_t(shape.images + 1) * shape.channels;
}

void score_backward(Type type, const BlockShape& shape, const void* x,
                    const ScoreParameters& parameters, const ScoreWorkspace& workspace,
                    const uint8_t* active, bool relu, const StreamGradients& from,
                    const float* score_gradient, const float* image_gradient, float* scratch,
                    void* x_gradient, void* f_gradient, const ScoreGradients& gradients,
                    cudaStream_t stream) {
  // The terms come first: they are read in vectors.
  const StreamTerms terms{scratch, scratch + int64_t(shape.images) * shape.channels};
  const auto parts = ParameterScratch::in(terms.slope + shape.channels, shape);
  const int rows = stream_rows(shape);
  const dim3 grid(divide_up(shape.rows(), rows), divide_up(shape.channels, kSpan));
  with_type(type, [&]<typename T>(const T*) {
    const T* values = static_cast<const T*>(x);
    parameter_gradients(shape, values, parameters, workspace, score_gradient, image_gradient, parts,
                        gradients, terms, stream);
    stream_gradients_kernel<<<grid, dim3(kLanes, kStreamWarps), 0, stream>>>(
        shape, values, parameters.local ? workspace.taps : nullptr, terms, active, relu, from,
        score_gradient, rows, static_cast<T*>(x_gradient), static_cast<T*>(f_gradient));
  });
}

int64_t hard_backward_floats(const BlockShape& shape) {
  return ParameterScratch::floats(shape) + shape.rows() + shape.images;
}

void hard_backward(Type type, const BlockShape& shape, const void* x, const void* f,
                   const HardDecision& decision, bool relu, const StreamGradients& from,
                   const ActiveGradients& active, const ScoreParameters& parameters,
                   const ScoreWorkspace& workspace, float* scratch, void* x_gradient,
                   void* f_gradient, const ScoreGradients& gradients, cudaStream_t stream) {
  const auto parts = ParameterScratch::in(scratch, shape);
  float* score_gradient = parts.end;
  float* image_gradient = score_gradient + shape.rows();
  with_type(type, [&]<typename T>(const T*) {
    const T* values = static_cast<const T*>(x);
    hard_gradients_kernel<<<divide_up(shape.rows(), kSumWarps), dim3(kLanes, kSumWarps), 0,
                            stream>>>(shape, values, static_cast<const T*>(f), decision, relu, from,
                                      active, score_gradient, static_cast<T*>(x_gradient),
                                      static_cast<T*>(f_gradient));
    image_gradients_kernel<<<shape.images, kImageThreads, 0, stream>>>(
        shape, Pointers{}, /*per_image=*/false, 0.0f, 0.0f, score_gradient, image_gradient);
    parameter_gradients(shape, values, parameters, workspace, score_gradient, image_gradient, parts,
                        gradients, StreamTerms{}, stream);
  });
}

}  // namespace sact::cuda
