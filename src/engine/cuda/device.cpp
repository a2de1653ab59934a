#include "engine/cuda/device.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sact::engine {
namespace {

constexpr int kOldestMajor = 8;  // tensor cores with bf16
constexpr size_t kWeightPiece = size_t{32} << 20;

}  // namespace

void expect(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not tell of it again
  fail("CUDA: {}: {}", what, cudaGetErrorString(error));
}

DeviceFacts open_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    cudaGetLastError();
    int driver = 0;
    const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    fail("there is no GPU that can be used here: {}; use device cpu",
         has_driver ? (error == cudaSuccess ? "the driver knows none" : cudaGetErrorString(error))
                    : "NVIDIA's driver is not installed");
  }
  expect(cudaSetDevice(0), "the GPU cannot be used");
  DeviceFacts facts;
  cudaDeviceProp properties;
  expect(cudaGetDeviceProperties(&properties, 0), "the GPU cannot be asked");
  facts.name = properties.name;
  const auto ask = [](int& value, cudaDeviceAttr attribute) {
    expect(cudaDeviceGetAttribute(&value, attribute, 0), "the GPU cannot be asked");
  };
  ask(facts.major, cudaDevAttrComputeCapabilityMajor);
  ask(facts.minor, cudaDevAttrComputeCapabilityMinor);
  ask(facts.multiprocessors, cudaDevAttrMultiProcessorCount);
  if (facts.major < kOldestMajor) {
    fail(
        "{} has compute capability {}.{}; the CUDA engine needs {}.0 or later: use device cpu, "
        "or the back end torch",
        printable(facts.name), facts.major, facts.minor, kOldestMajor);
  }
  return facts;
}

DeviceMemory::DeviceMemory(size_t bytes, const char* what) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  if (cudaMalloc(&data, bytes) != cudaSuccess) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    fail("{} needs {} of the GPU's memory, and {} are free", what, format_bytes(bytes),
         format_bytes(free));
  }
  data_ = static_cast<std::byte*>(data);
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (data_) cudaFree(data_);
}

PinnedMemory::PinnedMemory(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  expect(cudaHostAlloc(&data, bytes, cudaHostAllocDefault), "memory for transfers");
  data_ = static_cast<std::byte*>(data);
}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (data_) cudaFreeHost(data_);
}

Stream::Stream() {
  expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
}

Stream::~Stream() {
  cudaStreamDestroy(stream_);
}

void Stream::wait() const {
  expect(cudaStreamSynchronize(stream_), "the network's kernels");
}

Event::Event() {
  expect(cudaEventCreate(&event_), "an event");
}

Event::~Event() {
  if (event_) cudaEventDestroy(event_);
}

void Event::record(const Stream& stream) {
  expect(cudaEventRecord(event_, stream.get()), "an event");
}

double Event::milliseconds_since(const Event& earlier) const {
  expect(cudaEventSynchronize(event_), "an event");
  float ms = 0;
  expect(cudaEventElapsedTime(&ms, earlier.event_, event_), "an event");
  return ms;
}

const void* WeightMemory::put(const void* values, size_t bytes) {
  constexpr size_t kAlignment = 256;
  const size_t taken = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (pieces_.empty() || used_ + taken > pieces_.back().bytes()) {
    pieces_.emplace_back(std::max(taken, kWeightPiece), "the network");
    used_ = 0;
  }
  std::byte* to = pieces_.back().data() + used_;
  used_ += taken;
  expect(cudaMemcpy(to, values, bytes, cudaMemcpyHostToDevice), "weights");
  return to;
}

void WeightMemory::wait() const {
  expect(cudaDeviceSynchronize(), "weights");
}

int64_t WeightMemory::bytes() const {
  int64_t sum = 0;
  for (const DeviceMemory& piece : pieces_) sum += int64_t(piece.bytes());
  return sum;
}

}  // namespace sact::engine
