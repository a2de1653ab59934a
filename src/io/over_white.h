// Transparent pixels laid over white.
#pragma once

#include <cstdint>

namespace sact::io {

/// Lays RGBA of 8 or 16 bits over white. Samples of 16 bits are big-endian, and rounded only once.
inline void rgb_over_white(const uint8_t* rgba, uint8_t* rgb, int width, int bit_depth = 8) {
  const int bytes = bit_depth / 8;
  const uint64_t white = bit_depth == 16 ? 65535 : 255;
  const uint64_t unit = white * (white / 255);  // of the product of sample and alpha, for 1/255
  auto sample = [bytes](const uint8_t* p) -> uint64_t {
    return bytes == 2 ? unsigned(p[0]) << 8 | p[1] : p[0];
  };
  for (int x = 0; x < width; ++x, rgba += 4 * bytes, rgb += 3) {
    const uint64_t alpha = sample(rgba + 3 * bytes);
    for (int c = 0; c < 3; ++c) {
      const uint64_t sum = sample(rgba + c * bytes) * alpha + white * (white - alpha);
      rgb[c] = uint8_t((sum + unit / 2) / unit);
    }
  }
}

}  // namespace sact::io
