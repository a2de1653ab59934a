// Starting kernels, and what all of them use.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/cuda/inference/kernels.h"

namespace sact::cuda {

/// Calls work(float{}), work(__nv_bfloat16{}) or work(__half{}).
template <typename Work>
void with_element(Element type, const Work& work) {
  switch (type) {
    case Element::kFloat32:
      return work(float{});
    case Element::kBFloat16:
      return work(__nv_bfloat16{});
    case Element::kFloat16:
      return work(__half{});
  }
}
/// For the types of 16 bits: calls work() with the type as its static `value`.
template <typename Work>
auto with_half_element(Element type, const Work& work) {
  return type == Element::kFloat16 ? work(std::integral_constant<Element, Element::kFloat16>{})
                                   : work(std::integral_constant<Element, Element::kBFloat16>{});
}

/// The other way round.
template <typename T>
constexpr Element element_of() {
  return std::is_same_v<T, float>    ? Element::kFloat32
         : std::is_same_v<T, __half> ? Element::kFloat16
                                     : Element::kBFloat16;
}

/// On Hopper a kernel may be put in place while the one before still runs: after_previous() waits.
template <typename Call>
void start(void (*kernel)(Call), int blocks, int threads, const Launch& launch, const Call& call,
           size_t shared_bytes = 0) {
  if (blocks <= 0) return;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.attrs = &attribute;
  config.numAttrs = launch.overlap ? 1 : 0;
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(unsigned(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = launch.stream;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, call);
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("a kernel cannot be started: ") +
                             cudaGetErrorString(error));
  }
}

/// Lets a kernel have more shared memory than kernels get unasked.
template <typename Call>
void allow_shared(void (*kernel)(Call), int bytes) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("a kernel cannot be started: ") +
                             cudaGetErrorString(error));
  }
}

/// What every kernel begins with: the one before has ended, and what it wrote can be read. The next
/// may be put in place.
__device__ inline void after_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

constexpr int blocks_for(int64_t items, int each) {
  return int((items + each - 1) / each);
}

__device__ inline float to_float(float value) {
  return value;
}
__device__ inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline float to_float(__half value) {
  return __half2float(value);
}
__device__ inline void store(float* to, float value) {
  *to = value;
}
__device__ inline void store(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}
__device__ inline void store(__half* to, float value) {
  *to = __float2half_rn(value);
}
/// Two numbers that lie together.
__device__ inline float2 load_two(const float* from) {
  return *reinterpret_cast<const float2*>(from);
}
__device__ inline float2 load_two(const __nv_bfloat16* from) {
  const uint32_t two = *reinterpret_cast<const uint32_t*>(from);
  return make_float2(__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u));
}
__device__ inline float2 load_two(const __half* from) {
  return make_float2(__half2float(from[0]), __half2float(from[1]));
}
/// NaN stays NaN.
__device__ inline float positive(float value) {
  return value < 0 ? 0.0f : value;
}
/// NaN wins.
__device__ inline float larger(float a, float b) {
  return a < b || b != b ? b : a;
}

/// Sums over the threads of a block, the same in each; always in one order. `scratch` has a place
/// for every thread, a power of two, and may be used again after the next barrier.
template <typename Number>
__device__ Number block_sum(Number value, Number* scratch) {
  const int thread = int(threadIdx.x);
  scratch[thread] = value;
  __syncthreads();
  for (int half = int(blockDim.x) / 2; half > 0; half /= 2) {
    if (thread < half) scratch[thread] += scratch[thread + half];
    __syncthreads();
  }
  return scratch[0];
}

}  // namespace sact::cuda
