// The eight tile registers of AMX in software, with its order of operations: equal to the hardware
// to the last bit, so that kernels on tiles are tested on every machine.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "kernels/cpu/tiles/shape.h"

namespace sact::kernels {

class EmulatedTiles {
 public:
  void configure(const TileHeights& heights) {
    std::memset(tiles_, 0, sizeof tiles_);
    for (int tile = 0; tile < kTileRegisters; ++tile) heights_[tile] = heights.of(tile);
  }

  template <int kTile>
  void load(const void* from, int64_t stride) {
    std::memset(tiles_[kTile], 0, sizeof tiles_[kTile]);
    for (int row = 0; row < heights_[kTile]; ++row) {
      std::memcpy(tiles_[kTile][row], static_cast<const std::byte*>(from) + row * stride,
                  kTileRowBytes);
    }
  }

  template <int kTile>
  void store(void* to, int64_t stride) const {
    for (int row = 0; row < heights_[kTile]; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * stride, tiles_[kTile][row], kTileRowBytes);
    }
  }

  template <int kTile>
  void clear() {
    std::memset(tiles_[kTile], 0, sizeof tiles_[kTile]);
  }

  /// sums += rows * weights: the even and the odd products of a row are added up apart, then
  /// together, then to the sum. What is too small for a normal number counts as zero.
  template <int kSums, int kRows, int kWeights>
  void dot() {
    for (int row = 0; row < heights_[kSums]; ++row) {
      for (int column = 0; column < kTileColumns; ++column) {
        float parts[2] = {0, 0};
        for (int pair = 0; pair < kTileGroups; ++pair) {
          for (int half = 0; half < 2; ++half) {
            const float x = bf16_at(tiles_[kRows][row], 2 * pair + half);
            const float w = bf16_at(tiles_[kWeights][pair], 2 * column + half);
            parts[half] = normal(multiply_add(x, w, parts[half]));
          }
        }
        float sum;
        std::byte* place = tiles_[kSums][row] + column * int(sizeof sum);
        std::memcpy(&sum, place, sizeof sum);
        sum = normal(normal(sum) + normal(parts[0] + parts[1]));
        std::memcpy(place, &sum, sizeof sum);
      }
    }
  }

  /// The same with rows of 8 bits without a sign and weights of 8 bits with one; sums are whole
  /// numbers.
  template <int kSums, int kRows, int kWeights>
  void dot_bytes() {
    for (int row = 0; row < heights_[kSums]; ++row) {
      for (int column = 0; column < kTileColumns; ++column) {
        uint32_t sum;
        std::byte* place = tiles_[kSums][row] + column * int(sizeof sum);
        std::memcpy(&sum, place, sizeof sum);
        for (int group = 0; group < kTileGroups; ++group) {
          for (int k = 0; k < 4; ++k) {
            const auto x = uint8_t(tiles_[kRows][row][4 * group + k]);
            const auto w = int8_t(tiles_[kWeights][group][4 * column + k]);
            sum += uint32_t(int32_t(x) * w);
          }
        }
        std::memcpy(place, &sum, sizeof sum);
      }
    }
  }

  void release() {}

 private:
  static float normal(float value) {
    return std::abs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0f, value) : value;
  }
  /// Rounded once. Products of bfloat16 are exact in 32 bits, unless too small or too large.
  static float multiply_add(float x, float w, float sum) {
    const float product = x * w;
    return x == 0 || w == 0 || std::isnormal(product) ? sum + product : std::fma(x, w, sum);
  }
  static float bf16_at(const std::byte* row, int element) {
    uint16_t bits;
    std::memcpy(&bits, row + element * int(sizeof bits), sizeof bits);
    return normal(float_from_bf16(bits));
  }

  std::byte tiles_[kTileRegisters][kTileHeight][kTileRowBytes];
  int heights_[kTileRegisters] = {};
};

}  // namespace sact::kernels
