// The series of a plot in pixels: what of them is drawn where.
#pragma once

#include <vector>

#include "report/axis.h"
#include "report/legend.h"
#include "report/plot.h"
#include "report/polyline.h"

namespace sact::report {

/// Where values stand: both axes over an area of pixels.
struct PlotFrame {
  Axis x, y;
  PlotArea area;

  bool shows(double x_value, double y_value) const { return x.shows(x_value) && y.shows(y_value); }
  PlotPoint point(double x_value, double y_value) const {
    return {area.left + x.position(x_value) * area.width(),
            area.bottom - y.position(y_value) * area.height()};
  }
};

/// Both axes as the data and the plot's wishes have them; the area is still empty.
PlotFrame make_frame(const Plot& plot);

struct ErrorBar {
  PlotPoint from, to;
};

/// A series in pixels, cut off at the area and thinned out to what can be seen.
struct DrawnSeries {
  SeriesLook look;
  std::vector<Polyline> lines;
  Polyline markers;
  std::vector<ErrorBar> errors;

  bool empty() const { return lines.empty() && markers.empty() && errors.empty(); }
};

std::vector<DrawnSeries> drawn_series(const Plot& plot, const PlotFrame& frame);

/// Whether anything that is drawn lies in the box.
bool covers_data(const PlotArea& box, const std::vector<DrawnSeries>& all);

/// Lines, error bars and markers as SVG elements.
std::string draw_series(const DrawnSeries& series);

}  // namespace sact::report
