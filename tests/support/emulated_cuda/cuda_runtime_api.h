// CUDA's words for plain C++: kernels run on the CPU, for tests where there is no GPU.
//
// The threads of a block take turns, in random order between two barriers, and blocks come in
// random order: a result that hangs on an order differs from run to run. What a GPU would leave
// undefined ends the program: a barrier that not all threads reach, an exchange within a warp
// that some lanes have left, a launch beyond the limits.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

using cudaStream_t = void*;

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::max;
using std::min;

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned count() const { return x * y * z; }
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(uint32_t x, uint32_t y) {
  return {x, y};
}
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  return {x, y, z, w};
}
inline float __uint_as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t __float_as_uint(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline float rsqrtf(float value) {
  return 1.0f / std::sqrt(value);
}

inline dim3 blockIdx, blockDim, gridDim;

namespace emulated {

constexpr int kLanes = 32;
constexpr size_t kStack = 64 << 10;

enum class Waits { kNo, kForWarp, kForBlock };

struct Thread {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(kStack);
  dim3 index;
  int warp = 0, lane = 0;
  int exchanges = 0;  // with its warp so far
  Waits waits = Waits::kNo;
  bool done = false;
};

/// Two slots, so that a lane may write to the next while another still reads.
constexpr int kSlots = 8;
using Slots = uint32_t[kLanes][kSlots];
struct Warp {
  Slots slots[2];
};

inline Thread* current = nullptr;
inline std::vector<Warp> warps;
inline ucontext_t scheduler;
inline std::function<void()> kernel;
inline std::mt19937 order(1);
inline std::vector<unsigned char> dynamic_shared;  // of the block that runs

[[noreturn]] inline void fail(const char* why) {
  std::fprintf(stderr, "emulated CUDA: %s\n", why);
  std::abort();
}

inline void run_thread() {
  kernel();
  current->done = true;
  swapcontext(&current->context, &scheduler);
}

inline void wait(Waits for_whom) {
  Thread* thread = current;
  thread->waits = for_whom;
  swapcontext(&thread->context, &scheduler);
}

/// Others go on; this thread can, too.
inline void yield() {
  swapcontext(&current->context, &scheduler);
}

/// Shows a few numbers to the warp; returns what all lanes show.
inline const Slots& show(std::initializer_list<uint32_t> values) {
  Slots& slots = warps[size_t(current->warp)].slots[current->exchanges++ % 2];
  std::copy(values.begin(), values.end(), slots[current->lane]);
  wait(Waits::kForWarp);
  return slots;
}

inline void start(Thread& thread, unsigned number) {
  thread.index =
      dim3(number % blockDim.x, number / blockDim.x % blockDim.y, number / blockDim.x / blockDim.y);
  thread.warp = int(number) / kLanes;
  thread.lane = int(number) % kLanes;
  thread.exchanges = 0;
  thread.waits = Waits::kNo;
  thread.done = false;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.data();
  thread.context.uc_stack.ss_size = thread.stack.size();
  thread.context.uc_link = nullptr;
  makecontext(&thread.context, run_thread, 0);
}

/// Lets warps go on all of whose lanes have arrived. Returns whether there were any.
inline bool release_warps(const std::vector<Thread*>& threads) {
  std::vector<int> arrived(warps.size()), left(warps.size()), lanes(warps.size());
  for (const Thread* thread : threads) {
    ++lanes[size_t(thread->warp)];
    left[size_t(thread->warp)] += thread->done;
    arrived[size_t(thread->warp)] += !thread->done && thread->waits == Waits::kForWarp;
  }
  bool any = false;
  for (size_t w = 0; w < warps.size(); ++w) {
    if (arrived[w] > 0 && left[w] > 0) fail("a warp exchanges values that some lanes have left");
  }
  for (Thread* thread : threads) {
    const auto w = size_t(thread->warp);
    if (arrived[w] < lanes[w]) continue;
    thread->waits = Waits::kNo;
    any = true;
  }
  return any;
}

inline void release_block(const std::vector<Thread*>& threads) {
  for (Thread* thread : threads) {
    if (thread->done) continue;
    if (thread->waits != Waits::kForBlock) fail("a barrier that not all threads reach");
    thread->waits = Waits::kNo;
  }
}

inline void run_block() {
  static std::vector<std::unique_ptr<Thread>> pool;
  while (pool.size() < blockDim.count()) pool.push_back(std::make_unique<Thread>());
  warps.resize((blockDim.count() + kLanes - 1) / kLanes);
  std::vector<Thread*> threads;
  for (unsigned number = 0; number < blockDim.count(); ++number) {
    threads.push_back(pool[number].get());
    start(*threads.back(), number);
  }
  size_t unfinished = threads.size();
  while (unfinished > 0) {
    std::shuffle(threads.begin(), threads.end(), order);
    bool ran = false;
    for (Thread* thread : threads) {
      if (thread->done || thread->waits != Waits::kNo) continue;
      ran = true;
      current = thread;
      swapcontext(&scheduler, &thread->context);
      unfinished -= thread->done;
    }
    if (!release_warps(threads) && !ran) release_block(threads);
  }
}

/// Stands for kernel<<<grid, block, 0, stream>>>.
template <typename Kernel>
auto launch(Kernel function, dim3 grid, dim3 block, int, cudaStream_t) {
  return [=](auto... arguments) {
    if (grid.count() == 0 || grid.y > 65535 || grid.z > 65535 || block.count() > 1024) {
      fail("a launch beyond the limits");
    }
    kernel = [&] { function(arguments...); };
    blockDim = block;
    gridDim = grid;
    std::vector<dim3> blocks;
    for (unsigned z = 0; z < grid.z; ++z) {
      for (unsigned y = 0; y < grid.y; ++y) {
        for (unsigned x = 0; x < grid.x; ++x) blocks.emplace_back(x, y, z);
      }
    }
    std::shuffle(blocks.begin(), blocks.end(), order);
    for (const dim3& index : blocks) {
      std::fill(dynamic_shared.begin(), dynamic_shared.end(), 0xff);
      blockIdx = index;
      run_block();
    }
  };
}

}  // namespace emulated

#define threadIdx (::emulated::current->index)

inline void __syncthreads() {
  emulated::wait(emulated::Waits::kForBlock);
}
inline void __syncwarp() {
  emulated::wait(emulated::Waits::kForWarp);
}
inline void __threadfence() {}
/// Time goes on by being looked at.
inline long long clock64() {
  static long long cycles = 0;
  return cycles += 1000;
}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at += value;
  return before;
}
template <typename Value>
Value __ldcg(const Value* from) {
  return *from;
}
template <typename Value>
Value __shfl_sync(unsigned, Value value, int source) {
  static_assert(sizeof(Value) == 4);
  return std::bit_cast<Value>(emulated::show({std::bit_cast<uint32_t>(value)})[source][0]);
}
template <typename Value>
Value __shfl_xor_sync(unsigned lanes, Value value, int offset) {
  return __shfl_sync(lanes, value, emulated::current->lane ^ offset);
}

inline unsigned __ballot_sync(unsigned, bool is_so) {
  const emulated::Slots& all = emulated::show({uint32_t(is_so)});
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < emulated::kLanes; ++lane) lanes |= (all[lane][0] & 1) << lane;
  return lanes;
}
inline int __popc(unsigned bits) {
  return std::popcount(bits);
}

#include "runtime_calls.h"
