// CUDA's half precision for plain C++; see cuda_runtime_api.h.
#pragma once

#include "base/half.h"
#include "cuda_runtime_api.h"

struct __half {
  uint16_t bits;
};

inline __half __ushort_as_half(unsigned short bits) {
  return {bits};
}
inline __half __float2half_rn(float value) {
  return {sact::f16_from_float(value)};
}
inline float __half2float(__half value) {
  return sact::float_from_f16(value.bits);
}
