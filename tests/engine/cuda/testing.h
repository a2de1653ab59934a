// Memory of a GPU in tests, and whether there is one.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/cuda/device.h"
#include "engine/cuda/panels.h"
#include "engine/cuda/settings.h"
#include "kernels/cuda/inference/kernels.h"
#include "sact/error.h"

namespace sact::engine::test {

/// Why no GPU can be used; empty: one can.
inline std::string missing_gpu() {
  try {
    open_device();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

#define SACT_NEEDS_GPU() \
  if (const std::string missing = test::missing_gpu(); !missing.empty()) GTEST_SKIP() << missing

inline cuda::Launch launch() {
  const DeviceFacts facts = open_device();
  const CudaSettings settings = cuda_settings(facts);
  return {nullptr, facts.multiprocessors, settings.products, settings.overlap};
}

inline void wait() {
  expect(cudaStreamSynchronize(nullptr), "the kernel");
}

template <typename T>
DeviceMemory on_device(const std::vector<T>& values) {
  DeviceMemory memory(values.size() * sizeof(T) + 16, "a test");
  expect(
      cudaMemcpy(memory.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
      "a test");
  return memory;
}

template <typename T>
T* as(const DeviceMemory& memory) {
  return reinterpret_cast<T*>(memory.data());
}

template <typename T>
std::vector<T> from_device(const DeviceMemory& memory, size_t count) {
  std::vector<T> values(count);
  expect(cudaMemcpy(values.data(), memory.data(), count * sizeof(T), cudaMemcpyDeviceToHost),
         "a test");
  return values;
}

/// Floats in the element type, there and back.
inline DeviceMemory elements_on_device(const std::vector<float>& values, cuda::Element type) {
  if (type == cuda::Element::kFloat32) return on_device(values);
  std::vector<uint16_t> bits;
  for (const float value : values) bits.push_back(half_bits(value, type));
  return on_device(bits);
}
inline std::vector<float> elements_from_device(const DeviceMemory& memory, size_t count,
                                               cuda::Element type) {
  if (type == cuda::Element::kFloat32) return from_device<float>(memory, count);
  std::vector<float> values;
  for (const uint16_t bits : from_device<uint16_t>(memory, count)) {
    values.push_back(from_half_bits(bits, type));
  }
  return values;
}

}  // namespace sact::engine::test
