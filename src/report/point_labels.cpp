// Trying the places around each point in turn.
#include "report/point_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "report/legend.h"
#include "report/markup.h"

namespace sact::report {
namespace {

constexpr double kTextSize = 10;
constexpr double kTextHeight = 9;                    // capitals and a little
constexpr double kPadding = 1.5;                     // viewers' letters differ in width
constexpr std::array kDistances = {2.5, 8.0, 14.0};  // from the marker to the text

/// Where the text stands from its point: -1 left or above, 0 in line, 1 right or below.
struct Side {
  int x, y;
};
constexpr std::array<Side, 8> kSides = {
    {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}}};

PlotArea box_at(const PlotPoint& point, const Side& side, double distance, double width) {
  // A text in the corner of its point may come closer than one beside it.
  const double away = kMarkerRadius + (side.x != 0 && side.y != 0 ? 0.4 : 1.0) * distance;
  const double left = point.x - width / 2 + side.x * (width / 2 + away);
  const double top = point.y - kTextHeight / 2 + side.y * (kTextHeight / 2 + away);
  return {left, top, left + width, top + kTextHeight};
}

bool inside(const PlotArea& box, const PlotArea& area) {
  return box.left >= area.left && box.right <= area.right && box.top >= area.top &&
         box.bottom <= area.bottom;
}

std::vector<DrawnSeries> only_markers(std::vector<DrawnSeries> drawn) {
  for (DrawnSeries& series : drawn) {
    series.lines.clear();
    series.errors.clear();
  }
  return drawn;
}

}  // namespace

std::vector<PointLabel> place_labels(const Plot& plot, const PlotFrame& frame,
                                     const std::vector<DrawnSeries>& drawn,
                                     const PlotArea& legend) {
  std::vector<PointLabel> placed;
  const std::vector<DrawnSeries> markers = only_markers(drawn);
  const auto free_box = [&](const PlotPoint& point, double width,
                            const std::vector<DrawnSeries>& obstacles) -> std::optional<PlotArea> {
    for (const double distance : kDistances) {
      for (const Side& side : kSides) {
        const PlotArea box = box_at(point, side, distance, width);
        const bool hits_text = std::any_of(placed.begin(), placed.end(), [&](const auto& label) {
          return box.overlaps(label.box);
        });
        if (inside(box, frame.area.grown(-kMarkerRadius)) && !box.overlaps(legend) && !hits_text &&
            !covers_data(box, obstacles)) {
          return box;
        }
      }
    }
    return std::nullopt;
  };
  for (size_t s = 0; s < plot.series.size(); ++s) {
    const Series& series = plot.series[s];
    for (size_t i = 0; i < series.labels.size(); ++i) {
      if (series.labels[i].empty() || !frame.shows(series.x[i], series.y[i])) continue;
      const PlotPoint point = frame.point(series.x[i], series.y[i]);
      const double width = estimated_width(series.labels[i], kTextSize) + 2 * kPadding;
      std::optional<PlotArea> box = free_box(point, width, drawn);
      if (!box) box = free_box(point, width, markers);
      if (box) placed.push_back({series.labels[i], *box, drawn[s].look.style.color});
    }
  }
  return placed;
}

std::string draw_label(const PointLabel& label) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"middle\" fill=\"{}\" "
      "stroke=\"#fff\" stroke-width=\"2.5\" paint-order=\"stroke\">{}</text>\n",
      short_number((label.box.left + label.box.right) / 2), short_number(label.box.bottom - 1),
      short_number(kTextSize), hex_color(label.color), escape_markup(label.text));
}

}  // namespace sact::report
