// The OKLab transform in both directions, and mixing.
#include "report/color.h"

#include <algorithm>
#include <cmath>

namespace sact::report {
namespace {

double linear_from_srgb(uint8_t value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

uint8_t srgb_from_linear(double value) {
  const double v = std::clamp(value, 0.0, 1.0);
  const double encoded = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return uint8_t(std::lround(255 * encoded));
}

double cube(double x) {
  return x * x * x;
}

}  // namespace

std::array<double, 3> linear_rgb_from_oklab(const Oklab& color) {
  const auto [lightness, a, b] = color;
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

Oklab oklab_from_rgb(Rgb color) {
  const double red = linear_from_srgb(color.r);
  const double green = linear_from_srgb(color.g);
  const double blue = linear_from_srgb(color.b);
  const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Rgb rgb_from_oklab(const Oklab& color) {
  const auto [red, green, blue] = linear_rgb_from_oklab(color);
  return {srgb_from_linear(red), srgb_from_linear(green), srgb_from_linear(blue)};
}

double distance(const Oklab& a, const Oklab& b) {
  return std::hypot(a.lightness - b.lightness, a.a - b.a, a.b - b.b);
}

}  // namespace sact::report
