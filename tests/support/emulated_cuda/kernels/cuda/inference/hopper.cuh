// Hopper's instructions in plain C++; see src/kernels/cuda/inference/hopper.cuh. Copies and
// products are done at once, so that a wait that is missing does not show; wrong addresses,
// barriers that nobody completes and wrong layouts do.
#pragma once

#include <map>

#include "kernels/cuda/inference/tensor.cuh"

#define SACT_HAS_HOPPER 1

namespace sact::cuda::hopper {

using namespace tensor;

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

}  // namespace sact::cuda::hopper
