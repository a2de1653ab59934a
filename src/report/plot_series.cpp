// Ranges of data, gaps, error bars, thinning, and the SVG of one series.
#include "report/plot_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.h"
#include "report/series_style.h"

namespace sact::report {
namespace {

constexpr double kErrorCap = 2.5;
constexpr size_t kMaxLinePoints = 6000;
constexpr size_t kManyMarkers = 300;   // more of them on a line would hide it
constexpr double kMarkerSpacing = 14;  // then
constexpr double kCloudSpacing = 4;    // between the markers of clouds without a line

double error_at(const std::vector<double>& errors, size_t i) {
  return i < errors.size() && std::isfinite(errors[i]) ? std::abs(errors[i]) : 0;
}

void widen(ValueRange& range, const Axis& axis, double value, double error) {
  for (const double end : {value, value - error, value + error}) {
    if (!axis.shows(end)) continue;
    range.low = std::fmin(range.low, end);  // fmin and fmax pass over the NaN at the start
    range.high = std::fmax(range.high, end);
  }
}

/// A logarithmic axis cannot show the end of a bar that reaches down to 0: the bar leaves the plot.
double shown_end(const Axis& axis, double value) {
  return axis.shows(value) ? value : axis.low;
}

std::vector<ErrorBar> error_bars(const Series& series, const PlotFrame& frame) {
  std::vector<ErrorBar> bars;
  if (series.x_error.empty() && series.y_error.empty()) return bars;
  const auto add = [&](PlotPoint from, PlotPoint to) {
    if (from != to && clip_segment(from, to, frame.area)) bars.push_back({from, to});
  };
  const size_t stride = 1 + series.x.size() / kManyMarkers;
  for (size_t i = 0; i < series.x.size(); i += stride) {
    const double x = series.x[i], y = series.y[i];
    if (!frame.shows(x, y)) continue;
    const double dx = error_at(series.x_error, i), dy = error_at(series.y_error, i);
    add(frame.point(shown_end(frame.x, x - dx), y), frame.point(shown_end(frame.x, x + dx), y));
    add(frame.point(x, shown_end(frame.y, y - dy)), frame.point(x, shown_end(frame.y, y + dy)));
  }
  return bars;
}

/// The points between gaps.
std::vector<Polyline> runs(const Series& series, const PlotFrame& frame) {
  std::vector<Polyline> lines(1);
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (frame.shows(series.x[i], series.y[i])) {
      lines.back().push_back(frame.point(series.x[i], series.y[i]));
    } else if (!lines.back().empty()) {
      lines.emplace_back();
    }
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

/// The lines with gaps narrower than a pixel closed.
std::vector<Polyline> without_narrow_gaps(const std::vector<Polyline>& lines) {
  std::vector<Polyline> joined;
  for (const Polyline& line : lines) {
    if (joined.empty() || std::abs(joined.back().back().x - line.front().x) >= 1) {
      joined.push_back(line);
    } else {
      joined.back().insert(joined.back().end(), line.begin(), line.end());
    }
  }
  return joined;
}

std::vector<Polyline> thinned_runs(std::vector<Polyline> lines) {
  size_t points = 0;
  for (const Polyline& line : lines) points += line.size();
  if (points <= kMaxLinePoints) return lines;
  lines = without_narrow_gaps(lines);
  for (Polyline& line : lines) {
    line = thinned(line, std::max<size_t>(12, kMaxLinePoints * line.size() / points));
  }
  return lines;
}

DrawnSeries drawn(const Series& series, int index, const PlotFrame& frame) {
  DrawnSeries out;
  out.look = {series_style(series.style >= 0 ? series.style : index), series.line, series.markers,
              series.secondary};
  if (series.marker >= 0) out.look.style.marker = series_style(series.marker).marker;
  const std::vector<Polyline> lines = runs(series, frame);
  if (series.markers) {
    for (const Polyline& line : lines) {
      std::copy_if(line.begin(), line.end(), std::back_inserter(out.markers),
                   [&](const PlotPoint& point) { return frame.area.contains(point); });
    }
    if (out.markers.size() > kManyMarkers) {
      out.markers = without_neighbours(out.markers, series.line ? kMarkerSpacing : kCloudSpacing);
    }
  }
  if (series.line) {
    for (const Polyline& line : thinned_runs(lines)) {
      const std::vector<Polyline> parts = clipped(line, frame.area);
      out.lines.insert(out.lines.end(), parts.begin(), parts.end());
    }
  }
  out.errors = error_bars(series, frame);
  return out;
}

std::string text_of(const PlotPoint& point) {
  return short_number(point.x) + ' ' + short_number(point.y);
}

/// A lone point is a line of no length, which round ends make a dot.
std::string path_of(const Polyline& line) {
  std::string path = 'M' + text_of(line[0]) + (line.size() == 1 ? "h0" : "L");
  for (size_t i = 1; i < line.size(); ++i) path += (i > 1 ? " " : "") + text_of(line[i]);
  return path;
}

std::string error_path(const ErrorBar& bar) {
  std::string path = path_of({bar.from, bar.to});
  const bool upright = bar.from.x == bar.to.x;
  for (const PlotPoint& end : {bar.from, bar.to}) {
    const double dx = upright ? kErrorCap : 0, dy = upright ? 0 : kErrorCap;
    path += path_of({{end.x - dx, end.y - dy}, {end.x + dx, end.y + dy}});
  }
  return path;
}

/// One path of all markers; a cloud of many as dots, which take a quarter of the text.
std::string draw_markers(const DrawnSeries& series) {
  std::string path;
  if (!series.look.line && series.markers.size() > kManyMarkers) {
    for (const PlotPoint& marker : series.markers) path += path_of({marker});
    return fmt::format(
        "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>\n", path,
        hex_color(series.look.style.color), short_number(2 * kMarkerRadius));
  }
  for (const PlotPoint& marker : series.markers) {
    path += marker_path(series.look.style.marker, marker.x, marker.y, kMarkerRadius);
  }
  return fmt::format("<path d=\"{}\" {}/>\n", path, marker_attributes(series.look));
}

}  // namespace

PlotFrame make_frame(const Plot& plot) {
  PlotFrame frame;
  frame.x.logarithmic = plot.log_x;
  frame.y.logarithmic = plot.log_y;
  ValueRange x, y;
  for (const Series& series : plot.series) {
    for (size_t i = 0; i < series.x.size(); ++i) {
      if (!frame.shows(series.x[i], series.y[i])) continue;
      widen(x, frame.x, series.x[i], error_at(series.x_error, i));
      widen(y, frame.y, series.y[i], error_at(series.y_error, i));
    }
  }
  frame.x = make_axis(x, plot.x_range, plot.log_x);
  frame.y = make_axis(y, plot.y_range, plot.log_y);
  return frame;
}

std::vector<DrawnSeries> drawn_series(const Plot& plot, const PlotFrame& frame) {
  std::vector<DrawnSeries> all;
  for (const Series& series : plot.series) all.push_back(drawn(series, int(all.size()), frame));
  return all;
}

bool covers_data(const PlotArea& box, const std::vector<DrawnSeries>& all) {
  const auto crosses = [&](PlotPoint from, PlotPoint to) { return clip_segment(from, to, box); };
  for (const DrawnSeries& series : all) {
    for (const Polyline& line : series.lines) {
      for (size_t i = 0; i < line.size(); ++i) {
        if (crosses(line[i > 0 ? i - 1 : 0], line[i])) return true;
      }
    }
    for (const PlotPoint& marker : series.markers) {
      if (box.grown(kMarkerRadius).contains(marker)) return true;
    }
    for (const ErrorBar& bar : series.errors) {
      if (crosses(bar.from, bar.to)) return true;
    }
  }
  return false;
}

std::string draw_series(const DrawnSeries& series) {
  std::string svg, path;
  for (const Polyline& line : series.lines) path += path_of(line);
  if (!path.empty())
    svg += fmt::format("<path d=\"{}\" {}/>\n", path, line_attributes(series.look));
  path.clear();
  for (const ErrorBar& bar : series.errors) path += error_path(bar);
  if (!path.empty()) {
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\"0.75\"/>\n",
                       path, hex_color(series.look.style.color));
  }
  if (!series.markers.empty()) svg += draw_markers(series);
  return svg;
}

}  // namespace sact::report
