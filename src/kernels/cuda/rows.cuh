// Reading and writing rows of the residual stream in vectors of channels.
#pragma once

#include <cuda_bf16.h>

#include "kernels/cuda/halting_train.h"

namespace sact::cuda {

__device__ inline void load(const float* from, float (&to)[kVector]) {
  const float4 a = reinterpret_cast<const float4*>(from)[0];
  const float4 b = reinterpret_cast<const float4*>(from)[1];
  to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
  to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
}

__device__ inline void load(const __nv_bfloat16* from, float (&to)[kVector]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // A bfloat16 is the upper half of a float.
    to[2 * i] = __uint_as_float(words[i] << 16);
    to[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
}

__device__ inline void load(const float* from, float (&to)[kVector / 2]) {
  const float4 a = *reinterpret_cast<const float4*>(from);
  to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
}

__device__ inline void load(const __nv_bfloat16* from, float (&to)[kVector / 2]) {
  const uint2 raw = *reinterpret_cast<const uint2*>(from);
  to[0] = __uint_as_float(raw.x << 16), to[1] = __uint_as_float(raw.x & 0xffff0000u);
  to[2] = __uint_as_float(raw.y << 16), to[3] = __uint_as_float(raw.y & 0xffff0000u);
}

__device__ inline void store(const float (&from)[kVector], float* to) {
  reinterpret_cast<float4*>(to)[0] = make_float4(from[0], from[1], from[2], from[3]);
  reinterpret_cast<float4*>(to)[1] = make_float4(from[4], from[5], from[6], from[7]);
}

__device__ inline void store(const float (&from)[kVector], __nv_bfloat16* to) {
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(from[2 * i], from[2 * i + 1]);
    words[i] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

/// The value that a store would keep.
__device__ inline float rounded(float value, const float*) { return value; }
__device__ inline float rounded(float value, const __nv_bfloat16*) {
  return __bfloat162float(__float2bfloat16_rn(value));
}

/// x + f as a store would keep it, or its ReLU.
template <typename T>
__device__ float unit_output(float x, float f, bool relu, const T* type) {
  const float sum = rounded(x + f, type);
  return relu && sum < 0 ? 0.0f : sum;  // NaN stays NaN
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

/// Calls the function with a null pointer of the element type.
template <typename Function>
void with_type(Type type, Function function) {
  if (type == Type::kBFloat16) {
    function(static_cast<const __nv_bfloat16*>(nullptr));
  } else {
    function(static_cast<const float*>(nullptr));
  }
}

constexpr int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace sact::cuda
