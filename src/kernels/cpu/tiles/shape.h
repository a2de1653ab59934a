// The shapes of tiles, and which of the eight registers holds what in a product: the sums of two
// tiles of rows and two of columns, the rows, and the weights.
#pragma once

namespace sact::kernels {

inline constexpr int kTileRegisters = 8;
inline constexpr int kTileHeight = 16;  // rows at most
inline constexpr int kTileRowBytes = 64;
inline constexpr int kTileColumns = 16;  // sums of 32 bits
/// Of depths, each of 32 bits, which one step multiplies: pairs of bfloat16, fours of 8 bits.
inline constexpr int kTileGroups = 16;

/// Depths of one step, of elements of so many bytes.
constexpr int tile_depth(int element_bytes) {
  return kTileRowBytes / element_bytes;
}
inline constexpr int kTileDepth = tile_depth(2), kByteTileDepth = tile_depth(1);

/// Sums are 0 and 1 for the first tile of rows, 2 and 3 for the second.
inline constexpr int kRowsTile = 4, kSecondRowsTile = 5, kWeightsTile = 6, kSecondWeightsTile = 7;

/// How many rows the two tiles of rows have, and their sums.
struct TileHeights {
  int first = 0, second = 0;

  int of(int tile) const {
    if (tile >= kWeightsTile) return kTileGroups;
    return tile == 2 || tile == 3 || tile == kSecondRowsTile ? second : first;
  }
  bool operator==(const TileHeights&) const = default;
};

}  // namespace sact::kernels
