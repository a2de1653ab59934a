// Lines of many points in the pixels of a plot: thinning them out and cutting them off.
#pragma once

#include <cstddef>
#include <vector>

namespace sact::report {

/// In pixels, y down.
struct PlotPoint {
  double x = 0;
  double y = 0;
  bool operator==(const PlotPoint&) const = default;
};

using Polyline = std::vector<PlotPoint>;

struct PlotArea {
  double left = 0, top = 0, right = 0, bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  bool contains(const PlotPoint& p) const {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
  bool overlaps(const PlotArea& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  PlotArea grown(double by) const { return {left - by, top - by, right + by, bottom + by}; }
};

/// At most about `max_points` points that look the same. Where many follow each other in one column
/// of pixels, the first, the lowest, the highest and the last of them stay, so that no peak is
/// lost; a line that runs to and fro so much that this is not enough keeps the extremes of equal
/// pieces.
Polyline thinned(const Polyline& line, size_t max_points);

/// One point of those that share a square of the given size; the first, in their order.
Polyline without_neighbours(const Polyline& points, double square);

/// Cuts the segment to the area; false when none of it is inside.
bool clip_segment(PlotPoint& from, PlotPoint& to, const PlotArea& area);

/// The parts of a line inside the area.
std::vector<Polyline> clipped(const Polyline& line, const PlotArea& area);

}  // namespace sact::report
