// CUDA's bfloat16 for plain C++; see cuda_runtime_api.h.
#pragma once

#include "base/half.h"
#include "cuda_runtime_api.h"

struct __nv_bfloat16 {
  uint16_t bits;
};

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return {sact::bf16_from_float(value)};
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return sact::float_from_bf16(value.bits);
}
