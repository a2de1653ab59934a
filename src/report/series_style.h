// How the curves of a plot are told apart: by colour, by dashes and by markers.
#pragma once

#include <string>
#include <string_view>

#include "report/color.h"

namespace sact::report {

enum class Marker { kCircle, kSquare, kTriangle, kDiamond, kTriangleDown, kCross };

struct SeriesStyle {
  Rgb color;
  std::string_view dash;  // as SVG's stroke-dasharray; empty for a solid line
  Marker marker = Marker::kCircle;
};

inline constexpr int kSeriesColors = 8;

/// The style of the n-th series. Colours come again after kSeriesColors series, but then with other
/// dashes and markers.
SeriesStyle series_style(int index);

/// "#0961bb".
std::string hex_color(Rgb color);

/// The outline of a marker around (x, y) as SVG path data.
std::string marker_path(Marker marker, double x, double y, double radius);

}  // namespace sact::report
