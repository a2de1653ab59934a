// Text beside the points of a plot, where it covers neither data nor other text.
#pragma once

#include <string>
#include <vector>

#include "report/plot.h"
#include "report/plot_series.h"

namespace sact::report {

struct PointLabel {
  std::string text;
  PlotArea box;
  Rgb color;
};

/// The labels of all series that have a place inside the frame and outside of `legend`. One that
/// finds no free place near its point may cross a line, but no marker and no other text.
std::vector<PointLabel> place_labels(const Plot& plot, const PlotFrame& frame,
                                     const std::vector<DrawnSeries>& drawn, const PlotArea& legend);

std::string draw_label(const PointLabel& label);

}  // namespace sact::report
