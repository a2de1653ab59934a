// CUDA's bfloat16 for plain C++; see cuda_runtime_api.h.
#pragma once

#include "base/half.h"
#include "cuda_runtime_api.h"

struct __nv_bfloat16 {
  uint16_t bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {sact::bf16_from_float(value)};
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return sact::float_from_bf16(value.bits);
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
