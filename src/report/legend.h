// The legend of a plot: how large it is, where it covers no data, and drawing it.
#pragma once

#include <string>
#include <vector>

#include "report/polyline.h"
#include "report/series_style.h"

namespace sact::report {

inline constexpr double kPlotTextSize = 11;
inline constexpr double kMarkerRadius = 3.2;
inline constexpr double kLineWidth = 1.6;

/// How a series is drawn, in the plot and in its legend.
struct SeriesLook {
  SeriesStyle style;
  bool line = true;
  bool markers = false;
  bool secondary = false;

  /// Markers tell lines apart well enough: only without them are lines dashed.
  std::string_view dash() const;
};

/// The attributes of a line, and of a marker, in SVG.
std::string line_attributes(const SeriesLook& look);
std::string marker_attributes(const SeriesLook& look);

struct LegendEntry {
  std::string name;
  SeriesLook look;
};

/// Entries with their places, from the left top corner of the legend.
struct Legend {
  std::vector<LegendEntry> entries;
  std::vector<PlotPoint> places;
  double width = 0;
  double height = 0;
};

/// One entry under the other; names are shortened to `max_width`.
Legend stacked_legend(const std::vector<LegendEntry>& entries, double max_width);

/// Entries in as many equal columns as there is room for in `width`.
Legend wide_legend(const std::vector<LegendEntry>& entries, double width);

/// SVG elements; `frame` puts it on a white card.
std::string draw_legend(const Legend& legend, double left, double top, bool frame);

/// The width of a text in the fonts that a viewer may choose, a little on the safe side.
double estimated_width(std::string_view text, double size);

/// The text, shortened where it would be wider than that.
std::string fit_to_width(std::string_view text, double size, double width);

}  // namespace sact::report
