// A GPU as the engine uses it: which one, its memory, and errors as one line.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sact::engine {

/// Throws sact::Error where a call did not succeed; `what` says what could not be done.
void expect(cudaError_t error, const char* what);

struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 1;

  bool has_hopper() const { return major == 9; }
};

/// The first GPU. sact::Error in one line where there is none that can be used: no driver, an old
/// driver, no GPU, one that is too old.
DeviceFacts open_device();

/// Memory of the device, or of the host where the device can reach it, that frees itself.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// sact::Error, naming `what` needs it, where there is not so much.
  DeviceMemory(size_t bytes, const char* what);
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

/// The same in pages of the host that stay where they are: transfers need no copy of them.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(size_t bytes);
  PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  ~PinnedMemory();

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// A moment in a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  void record(const Stream& stream);
  /// Waits for both.
  double milliseconds_since(const Event& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Weights on the device, put there one after the other.
class WeightMemory {
 public:
  const float* put(const std::vector<float>& values) {
    return static_cast<const float*>(put(values.data(), values.size() * sizeof(float)));
  }
  const void* put(const void* values, size_t bytes);
  /// Until all are there: a copy of ordinary memory may come back before, and the streams of
  /// sessions wait for no other.
  void wait() const;
  int64_t bytes() const;

 private:
  std::vector<DeviceMemory> pieces_;
  size_t used_ = 0;  // of the last piece
};

}  // namespace sact::engine
