// Thinning by columns of pixels, and clipping by the parameters where a segment enters and leaves.
#include "report/polyline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "base/error.h"

namespace sact::report {
namespace {

/// Appends the first, the last and the extreme points of line[begin ... end), in their order.
void append_extremes(const Polyline& line, size_t begin, size_t end, Polyline& out) {
  std::array<size_t, 6> kept = {begin, end - 1, begin, begin, begin, begin};
  for (size_t i = begin; i < end; ++i) {
    if (line[i].y < line[kept[2]].y) kept[2] = i;
    if (line[i].y > line[kept[3]].y) kept[3] = i;
    if (line[i].x < line[kept[4]].x) kept[4] = i;
    if (line[i].x > line[kept[5]].x) kept[5] = i;
  }
  std::sort(kept.begin(), kept.end());
  const auto last = std::unique(kept.begin(), kept.end());
  for (auto i = kept.begin(); i != last; ++i) out.push_back(line[*i]);
}

Polyline thinned_by_columns(const Polyline& line) {
  Polyline out;
  for (size_t begin = 0, end; begin < line.size(); begin = end) {
    const double column = std::floor(line[begin].x);
    for (end = begin + 1; end < line.size() && std::floor(line[end].x) == column;) ++end;
    append_extremes(line, begin, end, out);
  }
  return out;
}

Polyline thinned_by_pieces(const Polyline& line, size_t pieces) {
  Polyline out;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t begin = line.size() * i / pieces, end = line.size() * (i + 1) / pieces;
    if (begin < end) append_extremes(line, begin, end, out);
  }
  return out;
}

}  // namespace

Polyline thinned(const Polyline& line, size_t max_points) {
  SACT_ASSERT(max_points >= 6);
  if (line.size() <= max_points) return line;
  Polyline out = thinned_by_columns(line);
  return out.size() <= max_points ? out : thinned_by_pieces(out, max_points / 6);
}

Polyline without_neighbours(const Polyline& points, double square) {
  std::unordered_set<int64_t> taken;
  Polyline out;
  for (const PlotPoint& point : points) {
    const int64_t column = std::llround(point.x / square), row = std::llround(point.y / square);
    if (taken.insert(column * (int64_t(1) << 32) + row).second) out.push_back(point);
  }
  return out;
}

bool clip_segment(PlotPoint& from, PlotPoint& to, const PlotArea& area) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  double enter = 0, leave = 1;
  // `slack` is how far inside of one border the start lies, `speed` how fast the segment comes
  // nearer to it.
  const auto cut = [&](double speed, double slack) {
    if (speed == 0) return slack >= 0;
    const double at = slack / speed;
    if (speed > 0) leave = std::min(leave, at);
    if (speed < 0) enter = std::max(enter, at);
    return enter <= leave;
  };
  const bool inside = cut(-dx, from.x - area.left) && cut(dx, area.right - from.x) &&
                      cut(-dy, from.y - area.top) && cut(dy, area.bottom - from.y);
  if (!inside) return false;
  const PlotPoint start = from;
  if (leave < 1) to = {start.x + leave * dx, start.y + leave * dy};
  if (enter > 0) from = {start.x + enter * dx, start.y + enter * dy};
  return true;
}

std::vector<Polyline> clipped(const Polyline& line, const PlotArea& area) {
  std::vector<Polyline> parts;
  if (line.size() == 1 && area.contains(line[0])) return {line};
  for (size_t i = 1; i < line.size(); ++i) {
    PlotPoint from = line[i - 1], to = line[i];
    if (!clip_segment(from, to, area)) continue;
    if (parts.empty() || parts.back().back() != from) parts.push_back({from});
    parts.back().push_back(to);
  }
  return parts;
}

}  // namespace sact::report
