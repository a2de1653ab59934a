// A helix in OKLab: constant speed in lightness and along a circle in the plane of hues, so that
// equal steps of `t` look equally large, and lightness alone orders the colours (for print in grey
// and for eyes that do not tell red from green).
#include "report/colormap.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sact::report {
namespace {

// The largest helix of its shape that stays inside sRGB: the blue end, the violets and the oranges
// all touch the gamut. The circle is off the grey axis, which makes both ends less colourful.
constexpr double kDarkest = 0.21;
constexpr double kLightest = 0.94;
constexpr double kCenterA = 0.034;
constexpr double kCenterB = 0.004;
constexpr double kRadius = 0.145;
constexpr double kFirstAngle = -106;
constexpr double kLastAngle = 126;

std::array<Rgb, kSequentialSteps + 1> make_table() {
  std::array<Rgb, kSequentialSteps + 1> table;
  for (int i = 0; i <= kSequentialSteps; ++i) {
    table[size_t(i)] = rgb_from_oklab(sequential_oklab(double(i) / kSequentialSteps));
  }
  return table;
}

}  // namespace

Oklab sequential_oklab(double t) {
  const double degrees = kFirstAngle + (kLastAngle - kFirstAngle) * t;
  const double angle = degrees * std::numbers::pi / 180;
  return {kDarkest + (kLightest - kDarkest) * t, kCenterA + kRadius * std::cos(angle),
          kCenterB + kRadius * std::sin(angle)};
}

const std::array<Rgb, kSequentialSteps + 1>& sequential_table() {
  static const auto table = make_table();
  return table;
}

Rgb sequential_color(double t) {
  if (std::isnan(t)) return kMissingColor;
  return sequential_table()[size_t(std::clamp(t, 0.0, 1.0) * kSequentialSteps + 0.5)];
}

}  // namespace sact::report
