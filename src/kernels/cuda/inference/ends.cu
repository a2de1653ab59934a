// What enters and leaves a network, and what has no weights in between.
#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/tensor.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256;

/// The number of this thread in the whole grid.
__device__ inline int64_t own_number() {
  return int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

template <typename T>
__global__ void enter_kernel(Enter p) {
  after_previous();
  const int64_t number = own_number();
  if (number >= int64_t(p.grid.rows()) * p.channels) return;
  const int64_t row = number / p.channels;
  const int channel = int(number % p.channels);
  const int64_t image = row / p.grid.positions(), position = row % p.grid.positions();
  const float value = p.planes
                          ? p.input[(image * p.channels + channel) * p.grid.positions() + position]
                          : p.input[number];
  store(static_cast<T*>(p.output) + number, value);
}

/// A thread has a pixel of the padded image; its border is zero, and so is its fourth channel.
template <Element kType>
__global__ void enter_stem_kernel(Enter p) {
  after_previous();
  const int64_t number = own_number();
  if (number >= int64_t(p.padded.rows())) return;
  const int image = int(number / p.padded.positions()), place = int(number % p.padded.positions());
  const int y = place / p.padded.width - kStemBorder, x = place % p.padded.width - kStemBorder;
  float values[kStemChannels] = {};
  if (y >= 0 && y < p.grid.height && x >= 0 && x < p.grid.width) {
    const int64_t positions = p.grid.positions(), position = int64_t(y) * p.grid.width + x;
    for (int c = 0; c < 3; ++c) {
      values[c] = p.planes ? p.input[(int64_t(image) * 3 + c) * positions + position]
                           : p.input[(image * positions + position) * 3 + c];
    }
  }
  static_cast<uint2*>(p.output)[number] = make_uint2(tensor::pack<kType>(values[0], values[1]),
                                                     tensor::pack<kType>(values[2], values[3]));
}

template <typename T>
__global__ void leave_kernel(Leave p) {
  after_previous();
  const int64_t number = own_number();
  if (number < p.values) p.output[number] = to_float(static_cast<const T*>(p.input)[number]);
}

/// Many threads may write the same.
template <typename T>
__global__ void check_finite_kernel(CheckFinite p) {
  after_previous();
  const int64_t all = int64_t(gridDim.x) * blockDim.x;
  bool finite = true;
  for (int64_t number = own_number(); number < p.values; number += all) {
    const float value = to_float(static_cast<const T*>(p.input)[number]);
    finite &= fabsf(value) <= 3.4028235e38f;  // not for NaN
  }
  if (!finite) *p.infinite = 1;
}

template <typename T>
__global__ void normalise_kernel(Normalise p) {
  after_previous();
  const int64_t number = own_number();
  if (number >= int64_t(p.rows) * p.channels) return;
  const int channel = int(number % p.channels);
  const float value = to_float(static_cast<const T*>(p.input)[number]);
  store(static_cast<T*>(p.output) + number, positive(p.scale[channel] * value + p.shift[channel]));
}

template <typename T>
__global__ void pool_kernel(Pool p) {
  after_previous();
  const int64_t number = own_number();
  if (number >= int64_t(p.to.rows()) * p.channels) return;
  const int channel = int(number % p.channels), row = int(number / p.channels);
  const int image = row / p.to.positions(), position = row % p.to.positions();
  const int top = position / p.to.width * 2 - p.top, left = position % p.to.width * 2 - p.left;
  float largest = -INFINITY;
  for (int y = top; y < top + 3; ++y) {
    for (int x = left; x < left + 3; ++x) {
      if (y < 0 || y >= p.from.height || x < 0 || x >= p.from.width) continue;
      const int64_t from = int64_t(image) * p.from.positions() + y * p.from.width + x;
      largest =
          larger(largest, to_float(static_cast<const T*>(p.input)[from * p.channels + channel]));
    }
  }
  store(static_cast<T*>(p.output) + number, largest);
}

/// The same for eight channels at a time, 16 bytes.
template <Element kType>
__global__ void pool_eight_kernel(Pool p) {
  after_previous();
  const int64_t number = own_number();
  const int pieces = p.channels / 8;
  if (number >= int64_t(p.to.rows()) * pieces) return;
  const int piece = int(number % pieces), row = int(number / pieces);
  const int image = row / p.to.positions(), position = row % p.to.positions();
  const int top = position / p.to.width * 2 - p.top, left = position % p.to.width * 2 - p.left;
  float largest[8];
  for (float& value : largest) value = -INFINITY;
  for (int y = max(top, 0); y < min(top + 3, p.from.height); ++y) {
    for (int x = max(left, 0); x < min(left + 3, p.from.width); ++x) {
      const int64_t from = int64_t(image) * p.from.positions() + y * p.from.width + x;
      const uint4 eight = static_cast<const uint4*>(p.input)[from * pieces + piece];
      const uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        largest[2 * i] = larger(largest[2 * i], tensor::low<kType>(words[i]));
        largest[2 * i + 1] = larger(largest[2 * i + 1], tensor::high<kType>(words[i]));
      }
    }
  }
  uint32_t words[4];  // nothing is rounded: the numbers had 16 bits
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = tensor::pack<kType>(largest[2 * i], largest[2 * i + 1]);
  }
  static_cast<uint4*>(p.output)[number] = make_uint4(words[0], words[1], words[2], words[3]);
}

/// A block takes 32 channels of an image; eight threads share the positions of each.
template <typename T>
__global__ void __launch_bounds__(kThreads) pool_all_kernel(PoolAll p) {
  after_previous();
  __shared__ float sums[8][32];
  const int groups = (p.channels + 31) / 32;
  const int image = int(blockIdx.x) / groups, lane = int(threadIdx.x) % 32;
  const int channel = int(blockIdx.x) % groups * 32 + lane, part = int(threadIdx.x) / 32;
  float sum = 0;
  if (channel < p.channels) {
    const T* rows =
        static_cast<const T*>(p.input) + int64_t(image) * p.grid.positions() * p.channels;
    for (int position = part; position < p.grid.positions(); position += 8) {
      const float value = to_float(rows[int64_t(position) * p.channels + channel]);
      sum += p.scale ? positive(p.scale[channel] * value + p.shift[channel]) : value;
    }
  }
  sums[part][lane] = sum;
  __syncthreads();
  if (part > 0 || channel >= p.channels) return;
  double total = 0;
  for (int i = 0; i < 8; ++i) total += sums[i][lane];
  p.output[int64_t(image) * p.channels + channel] = float(total / p.grid.positions());
}

__device__ inline void load_numbers(float (&to)[1], const float* from) {
  to[0] = *from;
}
__device__ inline void load_numbers(float (&to)[4], const float* from) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

/// A warp takes some columns of some images; its lanes share the depth, kEach numbers at a time.
/// The order of a sum is the same however many there are.
template <int kImages, int kColumns, int kEach>
__global__ void __launch_bounds__(kThreads) linear_kernel(Linear p) {
  after_previous();
  const int lane = int(threadIdx.x) % 32;
  const int number = int(blockIdx.x) * (kThreads / 32) + int(threadIdx.x) / 32;
  const int groups = (p.columns + kColumns - 1) / kColumns;
  const int first_image = number / groups * kImages, first_column = number % groups * kColumns;
  if (first_image >= p.images) return;
  const float *inputs[kImages], *weights[kColumns];
#pragma unroll
  for (int i = 0; i < kImages; ++i) {  // who is missing is worked out as the last one is
    inputs[i] = p.input + int64_t(min(first_image + i, p.images - 1)) * p.depth;
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    weights[c] = p.weights + int64_t(min(first_column + c, p.columns - 1)) * p.depth;
  }
  float sums[kImages][kColumns] = {};
#pragma unroll 2
  for (int k = lane * kEach; k < p.depth; k += 32 * kEach) {
    float w[kColumns][kEach];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) load_numbers(w[c], weights[c] + k);
#pragma unroll
    for (int i = 0; i < kImages; ++i) {
      float x[kEach];
      load_numbers(x, inputs[i] + k);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
#pragma unroll
        for (int e = 0; e < kEach; ++e) sums[i][c] += w[c][e] * x[e];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kImages; ++i) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      float sum = sums[i][c];
      for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
      const int image = first_image + i, column = first_column + c;
      if (lane > 0 || image >= p.images || column >= p.columns) continue;
      p.output[int64_t(image) * p.columns + column] = sum + p.bias[column];
    }
  }
}

template <int kImages, int kColumns, int kEach>
void start_linear(const Linear& call, const Launch& launch) {
  const int64_t warps =
      int64_t(blocks_for(call.images, kImages)) * blocks_for(call.columns, kColumns);
  start(linear_kernel<kImages, kColumns, kEach>, blocks_for(warps, kThreads / 32), kThreads, launch,
        call);
}

}  // namespace

void run(const Enter& call, Element type, const Launch& launch) {
  if (call.padded.images > 0) {
    with_half_element(type, [&](auto element) {
      start(enter_stem_kernel<decltype(element)::value>, blocks_for(call.padded.rows(), kThreads),
            kThreads, launch, call);
    });
    return;
  }
  const int blocks = blocks_for(int64_t(call.grid.rows()) * call.channels, kThreads);
  with_element(type, [&](auto element) {
    start(enter_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

void run(const Leave& call, Element type, const Launch& launch) {
  with_element(type, [&](auto element) {
    start(leave_kernel<decltype(element)>, blocks_for(call.values, kThreads), kThreads, launch,
          call);
  });
}

void run(const CheckFinite& call, Element type, const Launch& launch) {
  const int enough = 8 * launch.multiprocessors, blocks = blocks_for(call.values, kThreads);
  with_element(type, [&](auto element) {
    start(check_finite_kernel<decltype(element)>, blocks < enough ? blocks : enough, kThreads,
          launch, call);
  });
}

void run(const Normalise& call, Element type, const Launch& launch) {
  const int blocks = blocks_for(int64_t(call.rows) * call.channels, kThreads);
  with_element(type, [&](auto element) {
    start(normalise_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

void run(const Pool& call, Element type, const Launch& launch) {
  if (type != Element::kFloat32 && call.channels % 8 == 0) {
    const int64_t pieces = int64_t(call.to.rows()) * (call.channels / 8);
    with_half_element(type, [&](auto element) {
      start(pool_eight_kernel<decltype(element)::value>, blocks_for(pieces, kThreads), kThreads,
            launch, call);
    });
    return;
  }
  const int blocks = blocks_for(int64_t(call.to.rows()) * call.channels, kThreads);
  with_element(type, [&](auto element) {
    start(pool_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

void run(const PoolAll& call, Element type, const Launch& launch) {
  const int blocks = call.grid.images * blocks_for(call.channels, 32);
  with_element(type, [&](auto element) {
    start(pool_all_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

void run(const Linear& call, const Launch& launch) {
  if (call.depth % 4 != 0) {
    start_linear<8, 1, 1>(call, launch);
  } else if (call.images < 8) {
    start_linear<1, 1, 4>(call, launch);
  } else {
    start_linear<16, 4, 4>(call, launch);
  }
}

}  // namespace sact::cuda
