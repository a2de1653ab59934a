// Hopper's instructions in plain C++; see src/kernels/cuda/inference/hopper.cuh. Copies and
// products are done at once, so that a wait that is missing does not show; wrong addresses,
// barriers that nobody completes and wrong layouts do.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <map>

#define SACT_HAS_HOPPER 1

namespace sact::cuda::hopper {

struct EmulatedBarrier {
  int count = 0, pending = 0, bytes = 0;
  uint32_t phase = 0;

  void check() {
    if (pending < 0) emulated::fail("more arrivals than a barrier expects");
    if (pending > 0 || bytes != 0) return;
    pending = count;
    phase ^= 1;
  }
};
inline std::map<uint32_t, EmulatedBarrier> emulated_barriers;
/// Barriers of some threads, by number.
inline std::map<int, EmulatedBarrier> emulated_meetings;
/// A block that begins has others.
inline void emulated_meetings_end() {
  for (const auto& [number, barrier] : emulated_meetings) {
    if (barrier.pending != barrier.count) emulated::fail("a barrier that not all threads reach");
  }
  emulated_meetings.clear();
}

/// Addresses begin with the first multiple of 1024.
inline uint32_t shared_base() {
  return 1024;
}
inline unsigned char* shared_at(uint32_t address, size_t bytes) {
  const size_t at = size_t(address) - 1024;
  if (at + bytes > emulated::dynamic_shared.size()) emulated::fail("beyond shared memory");
  return emulated::dynamic_shared.data() + at;
}

inline void barrier_init(uint32_t barrier, int count) {
  emulated_meetings_end();
  shared_at(barrier, 8);
  emulated_barriers[barrier] = {count, count, 0, 0};
}
inline void barriers_ready() {}
inline bool barrier_try(uint32_t barrier, uint32_t parity) {
  return emulated_barriers.at(barrier).phase != parity;
}
inline void barrier_wait(uint32_t barrier, uint32_t parity) {
  for (int turn = 0; !barrier_try(barrier, parity); ++turn) {
    if (turn > 100000) emulated::fail("a barrier that is never complete");
    emulated::yield();
  }
}
inline void barrier_arrive(uint32_t barrier) {
  --emulated_barriers.at(barrier).pending;
  emulated_barriers.at(barrier).check();
}
inline void barrier_expect(uint32_t barrier, int bytes) {
  emulated_barriers.at(barrier).bytes += bytes;
  barrier_arrive(barrier);
}
inline void copy_bulk(uint32_t to, const void* from, int bytes, uint32_t barrier) {
  std::memcpy(shared_at(to, size_t(bytes)), from, size_t(bytes));
  emulated_barriers.at(barrier).bytes -= bytes;
  emulated_barriers.at(barrier).check();
}
inline void copy_16(uint32_t to, const void* from, int bytes) {
  std::memset(shared_at(to, 16), 0, 16);
  std::memcpy(shared_at(to, 16), from, size_t(bytes));
}
inline void arrive_after_copies(uint32_t barrier) {
  barrier_arrive(barrier);
}
inline void wait_for_copies() {}

inline void threads_meet(int number, int threads) {
  EmulatedBarrier& barrier = emulated_meetings[number];
  if (barrier.count == 0) barrier = {threads, threads, 0, 0};
  const uint32_t phase = barrier.phase;
  --barrier.pending;
  barrier.check();
  for (int turn = 0; barrier.phase == phase; ++turn) {
    if (turn > 100000) emulated::fail("a barrier that not all threads reach");
    emulated::yield();
  }
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
  const int lane = emulated::current->lane;
  for (int matrix = 0; matrix < 4; ++matrix) {
    const uint32_t line = __shfl_sync(~0u, from, matrix * 8 + lane / 4);
    r[matrix] = load_32(line + uint32_t(lane % 4 * 4));
  }
}

inline void fence_shared() {}
inline void products_begin() {}
inline void products_commit() {}
/// A warp multiplies together: none of its lanes goes on before all have done so.
template <int N>
void products_wait() {
  __syncwarp();
}
template <int N>
void keep(float (&)[N]) {}
inline uint64_t describe(uint32_t address) {
  if (address % 1024 != 0) emulated::fail("a tile that does not begin where swizzling does");
  return address >> 4;
}
template <int N>
void take_registers() {}
template <int N>
void give_registers() {}
inline void wait_for_previous() {}
inline void let_next_start() {}

inline float from_bf16(uint32_t bits) {
  return __uint_as_float(bits << 16);
}
inline uint32_t pack(float low, float high) {
  return uint32_t(__float2bfloat16_rn(low).bits) | uint32_t(__float2bfloat16_rn(high).bits) << 16;
}
inline uint32_t scale_shift_relu(uint32_t x, uint32_t s, uint32_t c) {
  const auto one = [&](int shift) {
    const auto part = [&](uint32_t v) { return from_bf16(v >> shift & 0xffff); };
    return std::max(std::fma(part(x), part(s), part(c)), 0.0f);
  };
  return pack(one(0), one(16));
}

}  // namespace sact::cuda::hopper
