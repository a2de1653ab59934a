// CUDA's bfloat16 for plain C++; see cuda_runtime_api.h.
#pragma once

#include "cuda_runtime_api.h"

struct __nv_bfloat16 {
  uint16_t bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  if (value != value) return {0x7fff};
  const auto bits = std::bit_cast<uint32_t>(value);
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};  // to nearest, ties to even
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return std::bit_cast<float>(uint32_t(value.bits) << 16);
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
