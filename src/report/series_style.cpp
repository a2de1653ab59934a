// The colours of curves, chosen in OKLab.
//
// Who does not tell red from green sees little of OKLab's a axis, so any two of these colours
// differ by at least 0.12 in the plane of the two others, lightness and b (blue to yellow). All are
// dark enough for a thin line on white.
#include "report/series_style.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "base/error.h"
#include "report/markup.h"

namespace sact::report {
namespace {

struct Lch {
  double lightness, chroma, hue;
};

constexpr std::array<Lch, kSeriesColors> kColors = {{
    {0.50, 0.160, 255},  // blue
    {0.70, 0.165, 55},   // orange
    {0.64, 0.120, 165},  // green
    {0.54, 0.200, 350},  // magenta
    {0.38, 0.080, 50},   // brown
    {0.76, 0.100, 230},  // sky
    {0.54, 0.110, 108},  // olive
    {0.36, 0.160, 295},  // purple
}};

constexpr std::array<std::string_view, 5> kDashes = {"", "6 2.5", "2 2", "8 2.5 2 2.5", "4 2 1 2"};

constexpr std::array kMarkers = {Marker::kCircle,  Marker::kSquare,       Marker::kTriangle,
                                 Marker::kDiamond, Marker::kTriangleDown, Marker::kCross};

std::string closed_path(double x, double y, double radius,
                        std::span<const std::array<double, 2>> corners) {
  std::string path;
  for (const auto& [dx, dy] : corners) {
    path += path.empty() ? 'M' : 'L';
    path += short_number(x + dx * radius) + ' ' + short_number(y + dy * radius);
  }
  return path + 'z';
}

}  // namespace

SeriesStyle series_style(int index) {
  SACT_ASSERT(index >= 0);
  const Lch& lch = kColors[size_t(index) % kColors.size()];
  const double angle = lch.hue * std::numbers::pi / 180;
  return {
      rgb_from_oklab({lch.lightness, lch.chroma * std::cos(angle), lch.chroma * std::sin(angle)}),
      kDashes[size_t(index) % kDashes.size()], kMarkers[size_t(index) % kMarkers.size()]};
}

std::string hex_color(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
}

std::string marker_path(Marker marker, double x, double y, double radius) {
  using Corners = std::array<double, 2>;
  switch (marker) {
    case Marker::kCircle: {
      const std::string r = short_number(radius);
      return fmt::format("M{} {}a{} {} 0 1 0 {} 0a{} {} 0 1 0 -{} 0z", short_number(x - radius),
                         short_number(y), r, r, short_number(2 * radius), r, r,
                         short_number(2 * radius));
    }
    // The factors give all shapes about the area of the circle.
    case Marker::kSquare:
      return closed_path(x, y, 0.89 * radius,
                         std::array<Corners, 4>{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}});
    case Marker::kTriangle:
      return closed_path(x, y, 1.3 * radius,
                         std::array<Corners, 3>{{{0, -1}, {0.95, 0.7}, {-0.95, 0.7}}});
    case Marker::kDiamond:
      return closed_path(x, y, 1.3 * radius,
                         std::array<Corners, 4>{{{0, -1}, {1, 0}, {0, 1}, {-1, 0}}});
    case Marker::kTriangleDown:
      return closed_path(x, y, 1.3 * radius,
                         std::array<Corners, 3>{{{0, 1}, {0.95, -0.7}, {-0.95, -0.7}}});
    case Marker::kCross:
      return closed_path(x, y, 1.15 * radius,
                         std::array<Corners, 12>{{{-1, -0.5},
                                                  {-0.5, -1},
                                                  {0, -0.5},
                                                  {0.5, -1},
                                                  {1, -0.5},
                                                  {0.5, 0},
                                                  {1, 0.5},
                                                  {0.5, 1},
                                                  {0, 0.5},
                                                  {-0.5, 1},
                                                  {-1, 0.5},
                                                  {-0.5, 0}}});
  }
  SACT_ASSERT(!"a known marker");
}

}  // namespace sact::report
