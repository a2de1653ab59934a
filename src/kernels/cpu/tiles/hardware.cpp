#include "kernels/cpu/tiles/hardware.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/tiles/emulated.h"
#endif

namespace sact::kernels {

#if defined(__x86_64__) && defined(__linux__)
namespace {

/// Whether the instructions exist and the system keeps tiles for its processes: without that they
/// must not even be tried. Leaves 0x1d and 0x1e, which describe tiles, are often hidden.
bool worth_a_try() {
  constexpr unsigned kOsxsave = 1u << 27, kBf16AndTiles = 1u << 22 | 1u << 24;
  constexpr unsigned kTileStates = 3u << 17;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if ((d & kBf16AndTiles) != kBf16AndTiles) return false;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileStates) == kTileStates;
}

/// Linux gives tiles to processes that ask for them.
bool ask_for_permission() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

template <typename Tiles>
void trial(const uint16_t* rows, const uint16_t* weights, float* sums) {
  Tiles tiles;
  tiles.configure({kTileHeight, 5});
  tiles.template load<0>(sums, kTileRowBytes);
  tiles.template load<kRowsTile>(rows, kTileRowBytes);
  tiles.template load<kWeightsTile>(weights, kTileRowBytes);
  tiles.template dot<0, kRowsTile, kWeightsTile>();
  tiles.template store<0>(sums, kTileRowBytes);
  tiles.release();
}

bool multiplies_right() {
  constexpr int kElements = kTileHeight * kTileDepth, kSums = kTileHeight * kTileColumns;
  alignas(64) uint16_t rows[kElements], weights[kElements];
  alignas(64) float found[kSums] = {}, expected[kSums] = {};
  for (int i = 0; i < kElements; ++i) {  // numbers of either sign that do not repeat in a row
    rows[i] = bf16_from_float(float(i * 37 % 101 - 50) / 16);
    weights[i] = bf16_from_float(float(i * 53 % 97 - 48) / 32);
  }
  trial<HardwareTiles>(rows, weights, found);
  trial<EmulatedTiles>(rows, weights, expected);
  return std::memcmp(found, expected, sizeof found) == 0;
}

}  // namespace

bool has_bf16_tiles() {
  static const bool found = worth_a_try() && ask_for_permission() && multiplies_right();
  return found;
}
#else
bool has_bf16_tiles() {
  return false;
}
#endif

}  // namespace sact::kernels
