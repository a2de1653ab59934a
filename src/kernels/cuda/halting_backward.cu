#include "kernels/cuda/rows.cuh"

namespace sact::cuda {
namespace {

constexpr int kLanes = 32;
constexpr int kSpan = kLanes * kVector;
constexpr int kSumWarps = 8;
constexpr int kReduceThreads = 256;
constexpr int kReduceVector = kVector / 2;  // channels of one thread in tap_gradients: 36 sums in registers
constexpr int kReduceSpan = kReduceThreads * kReduceVector;
constexpr int kMaxChunks = 256;    // parts of the rows that are added up separately
constexpr int kUnfoldRows = 8;
constexpr int kStreamWarps = 8;
constexpr int kStreamPositions = 64;  // rows of one block of threads in stream_gradients

struct Pointers {
  const void* x[kMaxUnits];
  void* x_gradient[kMaxUnits];
  const float* score[kMaxUnits];
};

/// Given N, a unit before the last has the weight h, the last one 1 - sum of h, and rho = N + that.
/// So d/dh_l = dp_l - dp_N - d rho for l < N, and 0 after. One warp takes one row.
template <typename T>
__global__ void weighted_sum_backward_kernel(BlockShape shape, int units, Pointers pointers,
                                             const float* __restrict__ weights,
                                             const float* __restrict__ unit_counts,
                                             const T* __restrict__ output_gradient,
                                             const float* __restrict__ cost_gradient,
                                             float* __restrict__ score_gradients) {
  __shared__ float weight_gradient[kSumWarps][kMaxUnits];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.x * kSumWarps + warp;
  const int rows = shape.rows();
  if (row >= rows) return;
  const int count = int(unit_counts[row]);
  const int64_t start = int64_t(row) * shape.channels;
  for (int unit = 0; unit < units; ++unit) {
    const bool used = unit < count;
    const float p = used ? weights[int64_t(unit) * rows + row] : 0.0f;
    const T* x = static_cast<const T*>(pointers.x[unit]) + start;
    T* x_gradient = static_cast<T*>(pointers.x_gradient[unit]) + start;
    float sum = 0;
    for (int channel = lane * kVector; channel < shape.channels; channel += kSpan) {
      float result[kVector] = {};
      if (used) {
        float gradient[kVector], value[kVector];
        load(output_gradient + start + channel, gradient);
        load(x + channel, value);
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
          sum += gradient[i] * value[i];
          result[i] = p * gradient[i];
        }
      }
      store(result, x_gradient + channel);
    }
    sum = warp_sum(sum);
    if (lane == 0) weight_gradient[warp][unit] = sum;
  }
  __syncwarp();
  const float at_halt =
      weight_gradient[warp][count - 1] + (cost_gradient ? cost_gradient[row] : 0.0f);
  for (int unit = lane; unit < units - 1; unit += kLanes) {
    float gradient = 0;
    if (unit < count - 1) {
      const float h = 1.0f / (1.0f + expf(-pointers.score[unit][row]));
      gradient = (weight_gradient[warp][unit] - at_halt) * h * (1 - h);
    }
    score_gradients[int64_t(unit) * rows + row] = gradient;
  }
}

/// The gradient of tap t's dot product at `row`: that of the score which reads it.
__device__ void gather_taps(const BlockShape& shape, const float* __restrict__ score_gradient,
                            int row, float (&result)[kTaps]) {
  const int position = row % shape.positions();
  const int y = position / shape.width, x = position % shape.width;
#pragma unroll
  for (int tap = 0; tap < kTaps; ++tap) {
    const int dy = tap / 3 - 1, dx = tap % 3 - 1;
    const bool inside =
        y - dy >= 0 && y - dy < shape.height && x - dx >= 0 && x - dx < shape.width;
    result[tap] = inside ? score_gradient[row - dy * shape.width - dx] : 0.0f;
  }
}

/// Sums over a part of the rows of x times the taps' gradients: [chunks, 9, C], and of the taps'
/// gradients alone: [chunks, 9].
template <typename T>
__global__ void tap_gradients_kernel(BlockShape shape, const T* __restrict__ x,
                                     const float* __restrict__ score_gradient, int chunk_rows,
                                     float* __restrict__ sums, float* __restrict__ shift_sums) {
  extern __shared__ float shared[];  // [groups, 9, threads of a row * 4]
  const int span = min(shape.channels - int(blockIdx.y) * kReduceSpan, kReduceSpan);
  const int row_threads = span / kReduceVector;
  const int groups = kReduceThreads / row_threads;
  const int group = threadIdx.x / row_threads;
  const int column = (threadIdx.x % row_threads) * kReduceVector;
  const int channel = blockIdx.y * kReduceSpan + column;
  const int begin = blockIdx.x * chunk_rows, end = min(begin + chunk_rows, shape.rows());
  float sum[kTaps][kReduceVector] = {}, shift[kTaps] = {};
  if (group < groups) {
#pragma unroll 2
    for (int row = begin + group; row < end; row += groups) {
      float value[kReduceVector], gradient[kTaps];
      load(x + int64_t(row) * shape.channels + channel, value);
      gather_taps(shape, score_gradient, row, gradient);
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        shift[tap] += gradient[tap];
#pragma unroll
        for (int i = 0; i < kReduceVector; ++i) sum[tap][i] += gradient[tap] * value[i];
      }
    }
    for (int tap = 0; tap < kTaps; ++tap) {
      for (int i = 0; i < kReduceVector; ++i) {
        shared[(group * kTaps + tap) * span + column + i] = sum[tap][i];
      }
    }
  }
  __syncthreads();
  for (int index = threadIdx.x; index < kTaps * span; index += kReduceThreads) {
    float total = 0;
    for (int g = 0; g < groups; ++g) total += shared[g * kTaps * span + index];
    const int tap = index / span, c = blockIdx.y * kReduceSpan + index % span;
    sums[(int64_t(blockIdx.x) * kTaps + tap) * shape.channels + c] = total;
  }
  if (blockIdx.y > 0) return;
  __syncthreads();
  if (column == 0 && group < groups) {
    for (int tap = 0; tap < kTaps; ++tap) shared[group * kTaps + tap] = shift[tap];
  }
  __syncthreads();
  if (threadIdx.x < kTaps) {
    float total = 0;
    for (int g = 0; g < groups; ++g) total += shared[g * kTaps + threadIdx.x];
    shift_sums[blockIdx.x * kTaps + threadIdx.x] = total;
  }
}

/// What the statistics pass on to x: offset[b, c] + slope[c] * x.
struct StreamTerms {
  float *offset, *slope;
};

__device__ float sum_rows(float value, float (&shared)[kUnfoldRows][kLanes]) {
  shared[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  float total = 0;
  for (int row = 0; row < kUnfoldRows; ++row) total += shared[row][threadIdx.x];
  __syncthreads();
  return total;
}

__global__ void unfold_norms_kernel(BlockShape shape, ScoreParameters parameters,
                                    ScoreWorkspace workspace, int chunks,
                                    const float* __restrict__ sums,
                                    const float* __restrict__ shift_sums,
                                    const float* __restrict__ image_gradient,
                                    ScoreGradients gradients, StreamTerms terms) {
  __shared__ float shared[kUnfoldRows][kLanes];
  __shared__ float shift[kTaps];
  const int lane = threadIdx.x, line = threadIdx.y;
  const int channel = blockIdx.x * kLanes + lane;
  const bool inside = channel < shape.channels;
  const int64_t channels = shape.channels;
  const float mean = inside ? workspace.mean[channel] : 0.0f;
  const float rows = float(shape.rows()), images = float(shape.images);
  float mean_gradient = 0, slope = 0;

  if (parameters.local) {
    for (int tap = line; tap < kTaps; tap += kUnfoldRows) {
      float sum = 0;
      for (int chunk = lane; chunk < chunks; chunk += kLanes) sum += shift_sums[chunk * kTaps + tap];
      sum = warp_sum(sum);
      if (lane == 0) shift[tap] = sum;
    }
    __syncthreads();
    const NormParameters& norm = parameters.local_norm;
    const float scale = inside ? norm.scale[channel] : 0.0f;
    const float inv_std = inside ? workspace.local_inv_std[channel] : 0.0f;
    float scale_gradient = 0, shift_gradient = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      float sum = 0;
      for (int chunk = line; inside && chunk < chunks; chunk += kUnfoldRows) {
        sum += sums[(int64_t(chunk) * kTaps + tap) * channels + channel];
      }
      const float centred = sum_rows(sum, shared) - mean * shift[tap];
      if (!inside) continue;
      const int64_t at = channel * parameters.channel_stride + tap * parameters.tap_stride;
      const float weight = parameters.local[at];
      if (line == 0) {
        gradients.local[at] = scale * inv_std * centred + norm.shift[channel] * shift[tap];
      }
      scale_gradient += weight * centred;  // times inv_std
      shift_gradient += weight * shift[tap];
    }
    const float variance_gradient =
        -0.5f * inv_std * inv_std * inv_std * scale * scale_gradient;
    slope = 2 * variance_gradient / rows;
    mean_gradient = -scale * inv_std * shift_gradient / rows - slope * mean;
    if (inside && line == 0) {
      gradients.local_scale[channel] = inv_std * scale_gradient;
      gradients.local_shift[channel] = shift_gradient;
    }
  }

  float sum = 0, total = 0;
  for (int image = line; image < shape.images; image += kUnfoldRows) {
    const float gradient = image_gradient[image];
    total += gradient;
    if (inside) sum += gradient * (workspace.pooled[image * channels + channel] - mean);
  }
  const float centred = sum_rows(sum, shared);
  total = sum_rows(total, shared);
  if (!inside) return;
  const NormParameters& norm = parameters.global_norm;
  const float weight = parameters.global[channel], scale = norm.scale[channel];
  const float inv_std = workspace.global_inv_std[channel];
  if (line == 0) {
    gradients.global[channel] = scale * inv_std * centred + norm.shift[channel] * total;
    gradients.global_scale[channel] = weight * inv_std * centred;
    gradients.global_shift[channel] = weight * total;
    if (channel == 0) *gradients.bias = total;
    terms.slope[channel] = slope;
  }
  const float folded = workspace.global[channel];
  const float variance_gradient = -0.5f * inv_std * inv_std * inv_std * weight * scale * centred;
  const float positions = float(shape.positions());
  for (int image = line; image < shape.images; image += kUnfoldRows) {
    const int64_t at = image * channels + channel;
    const float pooled_gradient =
        folded * image_gradient[image] - folded * total / images +
        2 * variance_gradient * (workspace.pooled[at] - mean) / images;
    terms.offset[at] = pooled_gradient / positions + mean_gradient;
  }
}

template <typename T>
__global__ void stream_gradients_kernel(BlockShape shape, const T* __restrict__ x,
                                        const float* __restrict__ taps, StreamTerms terms,
                                        const uint8_t* __restrict__ active,
                                        const T* __restrict__ result_gradient,
                                        const float* __restrict__ score_gradient,
                                        T* __restrict__ x_gradient, T* __restrict__ f_gradient) {
  const int channel = blockIdx.x * kSpan + threadIdx.x * kVector;
  if (channel >= shape.channels) return;
  const int image = blockIdx.y;
  float offset[kVector], slope[kVector], weight[kTaps][kVector];
  load(terms.offset + int64_t(image) * shape.channels + channel, offset);
  load(terms.slope + channel, slope);
  if (taps) {
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) {
      load(taps + int64_t(tap) * shape.channels + channel, weight[tap]);
    }
  }
  const int begin = blockIdx.z * kStreamPositions;
  const int end = min(begin + kStreamPositions, shape.positions());
#pragma unroll 2
  for (int position = begin + threadIdx.y; position < end; position += kStreamWarps) {
    const int row = image * shape.positions() + position;
    const int64_t at = int64_t(row) * shape.channels + channel;
    float value[kVector];
    load(result_gradient + at, value);
    if (taps) {
      float gradient[kTaps], stream[kVector];
      gather_taps(shape, score_gradient, row, gradient);
      load(x + at, stream);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        value[i] += offset[i] + slope[i] * stream[i];
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) value[i] += gradient[tap] * weight[tap][i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kVector; ++i) value[i] += offset[i];
    }
    store(value, x_gradient + at);
    if (!f_gradient) continue;
    if (active && !active[row]) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) value[i] = 0;
    }
    store(value, f_gradient + at);
  }
}

template <typename T>
__global__ void mask_rows_kernel(BlockShape shape, const T* __restrict__ gradient,
                                 const uint8_t* __restrict__ active, T* __restrict__ result) {
  const int vectors = shape.channels / kVector;
  const int64_t index = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= int64_t(shape.rows()) * vectors) return;
  float value[kVector] = {};
  if (active[index / vectors]) load(gradient + index * kVector, value);
  store(value, result + index * kVector);
}

int chunk_count(const BlockShape& shape) {
  const int chunks = divide_up(shape.rows(), 64);
  return chunks < kMaxChunks ? chunks : kMaxChunks;
}

}  // namespace

void weighted_sum_backward(Type type, const BlockShape& shape, int units, const void* const* x,
                           const float* weights, const float* unit_counts,
                           const float* const* scores, const void* output_gradient,
                           const float* cost_gradient, void* const* x_gradients,
                           float* score_gradients, cudaStream_t stream) {
  Pointers pointers;
  for (int unit = 0; unit < units; ++unit) {
    pointers.x[unit] = x[unit];
    pointers.x_gradient[unit] = x_gradients[unit];
    pointers.score[unit] = unit + 1 < units ? scores[unit] : nullptr;
  }
  const int blocks = divide_up(shape.rows(), kSumWarps);
  with_type(type, [&]<typename T>(const T*) {
    weighted_sum_backward_kernel<<<blocks, dim3(kLanes, kSumWarps), 0, stream>>>(
        shape, units, pointers, weights, unit_counts, static_cast<const T*>(output_gradient),
        cost_gradient, score_gradients);
  });
}

int64_t score_backward_floats(const BlockShape& shape) {
  const int64_t chunks = chunk_count(shape), channels = shape.channels;
  return (chunks * kTaps + shape.images + 1) * channels + chunks * kTaps;
}

void score_backward(Type type, const BlockShape& shape, const void* x,
                    const ScoreParameters& parameters, const ScoreWorkspace& workspace,
                    const uint8_t* active, const void* result_gradient,
                    const float* score_gradient, const float* image_gradient, float* scratch,
                    void* x_gradient, void* f_gradient, const ScoreGradients& gradients,
                    cudaStream_t stream) {
  const int chunks = chunk_count(shape);
  const int64_t channels = shape.channels;
  float* sums = scratch;
  StreamTerms terms{sums + chunks * kTaps * channels, nullptr};
  terms.slope = terms.offset + shape.images * channels;
  float* shift_sums = terms.slope + channels;
  const bool local = parameters.local != nullptr;
  with_type(type, [&]<typename T>(const T*) {
    const T* stream_values = static_cast<const T*>(x);
    if (local) {
      const dim3 grid(chunks, divide_up(shape.channels, kReduceSpan));
      const size_t bytes = size_t(kReduceThreads) * kReduceVector * kTaps * sizeof(float);
      tap_gradients_kernel<<<grid, kReduceThreads, bytes, stream>>>(
          shape, stream_values, score_gradient, divide_up(shape.rows(), chunks), sums, shift_sums);
    }
    unfold_norms_kernel<<<divide_up(shape.channels, kLanes), dim3(kLanes, kUnfoldRows), 0,
                          stream>>>(shape, parameters, workspace, chunks, sums, shift_sums,
                                    image_gradient, gradients, terms);
    const dim3 grid(divide_up(shape.channels, kSpan), shape.images,
                    divide_up(shape.positions(), kStreamPositions));
    stream_gradients_kernel<<<grid, dim3(kLanes, kStreamWarps), 0, stream>>>(
        shape, stream_values, local ? workspace.taps : nullptr, terms, active,
        static_cast<const T*>(result_gradient), score_gradient, static_cast<T*>(x_gradient),
        static_cast<T*>(f_gradient));
  });
}

void mask_rows(Type type, const BlockShape& shape, const void* gradient, const uint8_t* active,
               void* result, cudaStream_t stream) {
  const int64_t vectors = int64_t(shape.rows()) * (shape.channels / kVector);
  with_type(type, [&]<typename T>(const T*) {
    mask_rows_kernel<<<int((vectors + 255) / 256), 256, 0, stream>>>(
        shape, static_cast<const T*>(gradient), active, static_cast<T*>(result));
  });
}

}  // namespace sact::cuda
