// Instructions of tensor cores and copies in plain C++; see src/kernels/cuda/inference/tensor.cuh.
// Copies are done at once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>

#include "kernels/cuda/inference/calls.h"

namespace sact::cuda::tensor {

/// Addresses begin with the first multiple of 1024.
inline uint32_t shared_base() {
  return 1024;
}
inline unsigned char* shared_at(uint32_t address, size_t bytes) {
  const size_t at = size_t(address) - 1024;
  if (at + bytes > emulated::dynamic_shared.size()) emulated::fail("beyond shared memory");
  return emulated::dynamic_shared.data() + at;
}
inline void copy_16(uint32_t to, const void* from, int bytes) {
  std::memset(shared_at(to, 16), 0, 16);
  std::memcpy(shared_at(to, 16), from, size_t(bytes));
}
inline void copy_16_again(uint32_t to, const void* from, int bytes) {
  copy_16(to, from, bytes);
}
inline void store_32(uint32_t to, uint32_t value) {
  std::memcpy(shared_at(to, 4), &value, 4);
}
inline uint32_t load_32(uint32_t from) {
  uint32_t value;
  std::memcpy(&value, shared_at(from, 4), 4);
  return value;
}
inline uint4 load_128(uint32_t from) {
  uint4 value;
  std::memcpy(&value, shared_at(from, 16), 16);
  return value;
}
inline void store_128(uint32_t to, uint4 value) {
  std::memcpy(shared_at(to, 16), &value, 16);
}
inline void load_matrices(uint32_t (&r)[4], uint32_t from) {
  const emulated::Slots& lines = emulated::show({from});
  const int lane = emulated::current->lane;
  for (int matrix = 0; matrix < 4; ++matrix) {
    r[matrix] = load_32(lines[matrix * 8 + lane / 4][0] + uint32_t(lane % 4 * 4));
  }
}
/// A number from its 16 bits.
template <Element kType>
float from_half(uint32_t bits) {
  return kType == Element::kBFloat16 ? __bfloat162float({uint16_t(bits)})
                                     : __half2float({uint16_t(bits)});
}
template <Element kType>
uint32_t to_half(float value) {
  return kType == Element::kBFloat16 ? __float2bfloat16_rn(value).bits
                                     : __float2half_rn(value).bits;
}
template <Element kType>
float low(uint32_t two) {
  return from_half<kType>(two & 0xffff);
}
template <Element kType>
float high(uint32_t two) {
  return from_half<kType>(two >> 16);
}
template <Element kType>
uint32_t pack(float low, float high) {
  return to_half<kType>(low) | to_half<kType>(high) << 16;
}
template <Element kType>
uint32_t scale_shift_relu(uint32_t x, uint32_t s, uint32_t c) {
  return pack<kType>(std::max(std::fma(low<kType>(x), low<kType>(s), low<kType>(c)), 0.0f),
                     std::max(std::fma(high<kType>(x), high<kType>(s), high<kType>(c)), 0.0f));
}
inline void copies_commit() {}
template <int N>
void copies_wait() {}

template <Element kType>
void multiply_16x8(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const emulated::Slots& all = emulated::show({a[0], a[1], a[2], a[3], b0, b1});
  const int group = emulated::current->lane / 4, quad = emulated::current->lane % 4;
  const auto half = [](uint32_t two, int k) { return k % 2 ? high<kType>(two) : low<kType>(two); };
  for (int k = 0; k < 16; ++k) {
    const int from = k % 8 / 2;  // the lane of four that has it
    for (int h = 0; h < 2; ++h) {
      const float row = half(all[group * 4 + from][k / 8 * 2 + h], k);
      for (int e = 0; e < 2; ++e) {
        d[h * 2 + e] += row * half(all[(quad * 2 + e) * 4 + from][4 + k / 8], k);
      }
    }
  }
}

}  // namespace sact::cuda::tensor
