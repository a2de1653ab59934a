// Instructions of tensor cores and copies that GPUs have since compute capability 8.0, one function
// each. Shared memory is addressed by numbers. tests/support/emulated_cuda has all in plain C++.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/inference/calls.h"

namespace sact::cuda::tensor {

/// The first address of the block's dynamic shared memory that is a multiple of 1024.
__device__ __forceinline__ uint32_t shared_base() {
  extern __shared__ unsigned char shared_bytes[];
  return (uint32_t(__cvta_generic_to_shared(shared_bytes)) + 1023) & ~1023u;
}
/// Copies 16 bytes, of which `bytes` (0 or 16) come from memory and the others are zeros.
__device__ __forceinline__ void copy_16(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
/// The same of what this multiprocessor reads again soon: it stays in its own cache.
__device__ __forceinline__ void copy_16_again(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ uint32_t load_32(uint32_t from) {
  uint32_t value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(from) : "memory");
  return value;
}
__device__ __forceinline__ void store_32(uint32_t to, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}
__device__ __forceinline__ uint4 load_128(uint32_t from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(from));
  return v;
}
__device__ __forceinline__ void store_128(uint32_t to, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w));
}
/// Four 8x8 matrices of 16 bits; lane l has the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
/// relu(x * s + c) of two numbers of 16 bits.
template <Element kType>
__device__ __forceinline__ uint32_t scale_shift_relu(uint32_t x, uint32_t s, uint32_t c) {
  uint32_t d;
  if constexpr (kType == Element::kBFloat16) {
    asm("fma.rn.relu.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(s), "r"(c));
  } else {
    asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(x), "r"(s), "r"(c));
  }
  return d;
}
template <Element kType>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t d;
  if constexpr (kType == Element::kBFloat16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  }
  return d;
}
/// The first and the second of two numbers of 16 bits.
template <Element kType>
__device__ __forceinline__ float low(uint32_t v) {
  if constexpr (kType == Element::kBFloat16) return __uint_as_float(v << 16);
  return __half2float(__ushort_as_half(static_cast<unsigned short>(v & 0xffff)));
}
template <Element kType>
__device__ __forceinline__ float high(uint32_t v) {
  if constexpr (kType == Element::kBFloat16) return __uint_as_float(v & 0xffff0000u);
  return __half2float(__ushort_as_half(static_cast<unsigned short>(v >> 16)));
}

/// What this thread has begun to copy makes one group.
__device__ __forceinline__ void copies_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until at most N groups of copies are under way.
template <int N>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/// 16 rows by 8 columns by a depth of 16, with sums of 32 bits, of a warp.
template <Element kType>
__device__ __forceinline__ void multiply_16x8(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
#define SACT_MULTIPLY(TYPE)                                                 \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE       \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (kType == Element::kBFloat16) {
    SACT_MULTIPLY("bf16");
  } else {
    SACT_MULTIPLY("f16");
  }
#undef SACT_MULTIPLY
}

}  // namespace sact::cuda::tensor
