// Line plots as SVG text, in the manner of figures in papers.
#pragma once

#include <string>
#include <vector>

#include "report/value_range.h"

namespace sact::report {

struct Series {
  std::string name;          // for the legend, where series without a name do not appear
  std::vector<double> x, y;  // of the same length; values that are not finite leave a gap
  std::vector<double> x_error, y_error;  // half the length of error bars; empty for none
  /// Text beside each point, or empty for none. Put where it hides nothing, so best kept short and
  /// few; left out where there is no such place.
  std::vector<std::string> labels;
  bool markers = false;
  bool line = true;
  /// Colour, marker and dashes. Below 0: by the place among the series. Set it to give the same
  /// thing the same look in several plots, or two series the same colour.
  int style = -1;
  /// The style whose marker to take instead; below 0: its own. Tells series of one colour apart.
  int marker = -1;
  /// Dashed with hollow markers: what stands beside the main thing, such as its baseline.
  bool secondary = false;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_x = false, log_y = false;  // values not above 0 are then left out
  ValueRange x_range, y_range;        // found from the data where empty; lines are cut off there
  int width = 420, height = 300;      // at least 160 x 120
};

/// A whole SVG file. Same plot, same text. However many points a series has, the text stays below
/// about 100 kB for each: what would not be seen is left out, peaks are kept.
std::string to_svg(const Plot& plot);

/// The plots in rows of `columns`, each at its own size.
std::string to_svg(const std::vector<Plot>& plots, int columns);

}  // namespace sact::report
