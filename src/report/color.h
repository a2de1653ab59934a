// Colours on the screen (sRGB) and as people see them (OKLab).
#pragma once

#include <array>
#include <cstdint>

namespace sact::report {

struct Rgb {
  uint8_t r = 0;
  uint8_t g = 0;
  uint8_t b = 0;

  bool operator==(const Rgb&) const = default;
};

inline constexpr Rgb kWhite{255, 255, 255};
inline constexpr Rgb kTextColor{45, 45, 48};
inline constexpr Rgb kFaintTextColor{110, 110, 114};
inline constexpr Rgb kFrameColor{150, 150, 154};
/// Where there is no value to show. No colour of the colour map is close to it.
inline constexpr Rgb kMissingColor{160, 160, 160};

/// A colour in OKLab (B. Ottosson, 2020): equal distances look about equally different.
struct Oklab {
  double lightness = 0;
  double a = 0;
  double b = 0;
};

/// Linear red, green and blue; outside 0 ... 1 where a screen cannot show the colour.
std::array<double, 3> linear_rgb_from_oklab(const Oklab& color);

Oklab oklab_from_rgb(Rgb color);

/// The nearest 8-bit colour; parts out of the gamut are clipped.
Rgb rgb_from_oklab(const Oklab& color);

double distance(const Oklab& a, const Oklab& b);

/// `share` 0 gives `from`, 1 gives `to`.
inline Rgb mix(Rgb from, Rgb to, double share) {
  const auto channel = [share](uint8_t a, uint8_t b) {
    return uint8_t(a + (b - a) * share + 0.5);  // rounds, as it is never negative
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b)};
}

}  // namespace sact::report
