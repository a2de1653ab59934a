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

// Bits of what the processor says: tiles, and products of them.
constexpr unsigned kSaysBf16 = 1u << 22, kSaysTiles = 1u << 24, kSaysInt8 = 1u << 25;

/// Whether the instructions exist and the system keeps tiles for its processes: without that they
/// must not even be tried. Leaves 0x1d and 0x1e, which describe tiles, are often hidden.
bool worth_a_try(unsigned products) {
  constexpr unsigned kOsxsave = 1u << 27, kTileStates = 3u << 17;
  const unsigned wanted = products | kSaysTiles;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if ((d & wanted) != wanted) return false;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileStates) == kTileStates;
}

/// Linux gives tiles to processes that ask for them.
bool ask_for_permission() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct Dot {
  template <typename Tiles>
  static void multiply(Tiles& tiles) {
    tiles.template dot<0, kRowsTile, kWeightsTile>();
  }
};
struct DotBytes {
  template <typename Tiles>
  static void multiply(Tiles& tiles) {
    tiles.template dot_bytes<0, kRowsTile, kWeightsTile>();
  }
};

constexpr int kSums = kTileHeight * kTileColumns;

template <typename Tiles, typename Product>
void trial(const void* rows, const void* weights, float* sums) {
  Tiles tiles;
  tiles.configure({kTileHeight, 5});
  tiles.template load<0>(sums, kTileRowBytes);
  tiles.template load<kRowsTile>(rows, kTileRowBytes);
  tiles.template load<kWeightsTile>(weights, kTileRowBytes);
  Product::multiply(tiles);
  tiles.template store<0>(sums, kTileRowBytes);
  tiles.release();
}

template <typename Product>
bool same_as_emulated(const void* rows, const void* weights) {
  alignas(64) float found[kSums] = {}, expected[kSums] = {};
  trial<HardwareTiles, Product>(rows, weights, found);
  trial<EmulatedTiles, Product>(rows, weights, expected);
  return std::memcmp(found, expected, sizeof found) == 0;
}

bool multiplies_bf16_right() {
  constexpr int kElements = kTileHeight * kTileDepth;
  alignas(64) uint16_t rows[kElements], weights[kElements];
  for (int i = 0; i < kElements; ++i) {  // numbers of either sign that do not repeat in a row
    rows[i] = bf16_from_float(float(i * 37 % 101 - 50) / 16);
    weights[i] = bf16_from_float(float(i * 53 % 97 - 48) / 32);
  }
  return same_as_emulated<Dot>(rows, weights);
}

bool multiplies_bytes_right() {
  constexpr int kElements = kTileHeight * kByteTileDepth;
  alignas(64) uint8_t rows[kElements];
  alignas(64) int8_t weights[kElements];
  for (int i = 0; i < kElements; ++i) {
    rows[i] = uint8_t(i * 37 % 251);
    weights[i] = int8_t(i * 53 % 255 - 127);
  }
  return same_as_emulated<DotBytes>(rows, weights);
}

}  // namespace

bool has_bf16_tiles() {
  static const bool found =
      worth_a_try(kSaysBf16) && ask_for_permission() && multiplies_bf16_right();
  return found;
}

bool has_int8_tiles() {
  static const bool found =
      worth_a_try(kSaysInt8) && ask_for_permission() && multiplies_bytes_right();
  return found;
}
#else
bool has_bf16_tiles() {
  return false;
}

bool has_int8_tiles() {
  return false;
}
#endif

}  // namespace sact::kernels
