// The tile registers of a processor with AMX.
#pragma once

#include <cstdint>

#include "kernels/cpu/tiles/shape.h"

namespace sact::kernels {

/// Whether this process may use them, and products of bfloat16 come out as they should: asked once,
/// by doing one. What the processor says of itself is no more than a reason to try, because
/// hypervisors hide parts of it.
bool has_bf16_tiles();
/// The same for whole numbers of 8 bits.
bool has_int8_tiles();

#if defined(__x86_64__)
/// Written as assembler: compilers that know these instructions do not all know that they read and
/// write memory. Has no state of its own.
class HardwareTiles {
 public:
  static void configure(const TileHeights& heights) {
    Config config;
    for (int tile = 0; tile < kTileRegisters; ++tile) {
      config.row_bytes[tile] = kTileRowBytes;
      config.rows[tile] = uint8_t(heights.of(tile));
    }
    asm volatile("ldtilecfg %0" ::"m"(config));
  }

  template <int kTile>
  static void load(const void* from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kTile>
  static void store(void* to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kTile) : "memory");
  }

  template <int kSums, int kRows, int kWeights>
  static void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kRows), "i"(kWeights));
  }

  template <int kTile>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }

  template <int kSums, int kRows, int kWeights>
  static void dot_bytes() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kRows), "i"(kWeights));
  }

  /// So that a thread that sleeps has no tiles to be kept for it.
  static void release() { asm volatile("tilerelease" ::); }

 private:
  struct alignas(64) Config {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  };
};
#endif

}  // namespace sact::kernels
