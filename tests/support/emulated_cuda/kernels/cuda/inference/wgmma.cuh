// Products of a warpgroup in plain C++: every thread works out its own sums.
#pragma once

#include "kernels/cuda/inference/hopper.cuh"

namespace sact::cuda::hopper {

/// A number of a tile of rows of 128 bytes, swizzled by the address.
template <Element kType>
float tile_value(uint64_t tile, int row, int k) {
  const uint32_t address = uint32_t(tile << 4) + uint32_t(row * 128 + k * 2);
  const uint32_t swizzled = address ^ ((address >> 7 & 7) << 4);
  uint16_t bits;
  std::memcpy(&bits, shared_at(swizzled, 2), 2);
  return from_half<kType>(bits);
}

template <int N, Element kType>
struct Wgmma {
  /// rows[h][k] are the two rows of this thread.
  static void add_products(float (&d)[N / 2], const float (&rows)[2][16], uint64_t b, int add) {
    const int quad = emulated::current->lane % 4;
    for (int j = 0; j < N / 8; ++j) {
      for (int h = 0; h < 2; ++h) {
        for (int e = 0; e < 2; ++e) {
          float& sum = d[j * 4 + h * 2 + e];
          if (!add) sum = 0;
          for (int k = 0; k < 16; ++k)
            sum += rows[h][k] * tile_value<kType>(b, j * 8 + quad * 2 + e, k);
        }
      }
    }
  }

  static void from_shared(float (&d)[N / 2], uint64_t a, uint64_t b, int add) {
    float rows[2][16];
    const int first = emulated::current->warp % 4 * 16 + emulated::current->lane / 4;
    for (int h = 0; h < 2; ++h) {
      for (int k = 0; k < 16; ++k) rows[h][k] = tile_value<kType>(a, first + 8 * h, k);
    }
    add_products(d, rows, b, add);
  }

  static void from_registers(float (&d)[N / 2], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                             uint64_t b, int add) {
    const emulated::Slots& all = emulated::show({a0, a1, a2, a3});
    float rows[2][16];
    const int group = emulated::current->lane / 4;
    for (int h = 0; h < 2; ++h) {
      for (int k = 0; k < 16; ++k) {
        const uint32_t two = all[group * 4 + k % 8 / 2][k / 8 * 2 + h];
        rows[h][k] = k % 2 ? high<kType>(two) : low<kType>(two);
      }
    }
    add_products(d, rows, b, add);
  }
};

}  // namespace sact::cuda::hopper
