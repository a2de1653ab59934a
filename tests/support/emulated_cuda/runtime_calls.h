// The calls of CUDA's runtime that the engine makes, for plain C++: memory of the device is memory,
// a stream does everything at once, and a recording keeps what was started, to do it again.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_runtime_api.h"

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorUnknown = 999 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount
};
constexpr unsigned cudaStreamNonBlocking = 1, cudaHostAllocDefault = 0;

namespace emulated {

using Recording = std::vector<std::function<void()>>;
inline Recording* recorded = nullptr;  // what is started goes there

/// Does it now, or later.
inline cudaError_t act(std::function<void()> action) {
  recorded ? recorded->push_back(std::move(action)) : action();
  return cudaSuccess;
}

}  // namespace emulated

using cudaGraph_t = emulated::Recording*;
using cudaGraphExec_t = emulated::Recording*;
using cudaEvent_t = std::chrono::steady_clock::time_point*;

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

template <typename... Expected, typename... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Expected...),
                               Given&&... arguments) {
  return emulated::act(
      [=, grid = config->gridDim, block = config->blockDim, bytes = config->dynamicSmemBytes] {
        emulated::dynamic_shared.resize(bytes);
        emulated::launch(kernel, grid, block, 0, nullptr)(Expected(arguments)...);
      });
}

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "emulated error";
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  return *count = 1, cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  return *version = 13000, cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? 9
           : attribute == cudaDevAttrComputeCapabilityMinor ? 0
                                                            : 132;
  return cudaSuccess;
}
struct cudaDeviceProp {
  char name[256] = "the emulated GPU";
};
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int) {
  return *prop = cudaDeviceProp(), cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return *free = *total = size_t{1} << 30, cudaSuccess;
}
/// Not a number until somebody writes.
inline cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  if (!*memory) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xff, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  return std::free(memory), cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  return emulated::act([=] { std::memcpy(to, from, bytes); });
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return emulated::act([=] { std::memset(to, value, bytes); });
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return emulated::recorded = new emulated::Recording, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = emulated::recorded;
  emulated::recorded = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                        unsigned long long) {
  return *ready = new emulated::Recording(*graph), cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& action : *graph) action();
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return delete graph, cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return delete graph, cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return *event = new std::chrono::steady_clock::time_point, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return delete event, cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return *event = std::chrono::steady_clock::now(), cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = std::chrono::duration<float, std::milli>(*to - *from).count();
  return cudaSuccess;
}
