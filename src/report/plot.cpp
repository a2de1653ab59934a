// The layout of a plot, and its frame, numbers, labels and legend as SVG elements.
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "report/axis.h"
#include "report/legend.h"
#include "report/markup.h"
#include "report/plot_series.h"
#include "report/point_labels.h"

namespace sact::report {
namespace {

constexpr double kTitleSize = 13;
constexpr double kLabelSize = 12;
constexpr double kTickLength = 4;
constexpr double kMargin = 10;
constexpr double kRightMargin = 16;
constexpr double kLabelRoom = 18;  // for a line of text beside an axis
constexpr double kTitleRoom = 20;
constexpr double kLegendMargin = 7;
constexpr double kGridGap = 12;  // between the plots of a grid
constexpr double kSmallestArea = 40;
constexpr std::string_view kTextColor = "#2d2d30";
constexpr std::string_view kAxisColor = "#5c5c60";
constexpr std::string_view kGridColor = "#e6e6ea";
constexpr std::string_view kFaintColor = "#8a8a90";

void check(const Plot& plot) {
  SACT_ASSERT(plot.width >= 160 && plot.height >= 120);
  for (const Series& series : plot.series) {
    const size_t count = series.x.size();
    SACT_ASSERT(series.y.size() == count);
    SACT_ASSERT(series.x_error.empty() || series.x_error.size() == count);
    SACT_ASSERT(series.y_error.empty() || series.y_error.size() == count);
    SACT_ASSERT(series.labels.empty() || series.labels.size() == count);
  }
}

double widest_label(const AxisTicks& ticks) {
  double width = 0;
  for (const Tick& tick : ticks.major) {
    width = std::max(width, estimated_width(tick.label, kPlotTextSize));
  }
  return width;
}

AxisTicks vertical_ticks(const Axis& axis, double height) {
  return axis_ticks(axis, std::clamp(int(height / 36), 2, 9));
}

/// As many ticks as there is room for their labels side by side.
AxisTicks horizontal_ticks(const Axis& axis, double width) {
  for (int count = std::clamp(int(width / 42), 2, 9);; --count) {
    AxisTicks ticks = axis_ticks(axis, count);
    double closest = 1;
    for (size_t i = 1; i < ticks.major.size(); ++i) {
      closest = std::min(closest, ticks.major[i].position - ticks.major[i - 1].position);
    }
    if (count == 2 || closest * width >= widest_label(ticks) + 10) return ticks;
  }
}

/// The axis label, with the power of ten that its numbers leave out.
std::string with_factor(const std::string& label, const AxisTicks& ticks) {
  if (ticks.factor.empty()) return label;
  return label.empty() ? "×" + ticks.factor : label + " (×" + ticks.factor + ")";
}

/// Everything about a plot but the series.
struct Layout {
  PlotFrame frame;
  AxisTicks x_ticks, y_ticks;
  std::string x_label, y_label;
};

/// The layout with `legend_height` left free at the bottom.
Layout make_layout(const Plot& plot, double legend_height) {
  Layout layout{make_frame(plot), {}, {}, {}, {}};
  PlotArea& area = layout.frame.area;
  area.top = kMargin + (plot.title.empty() ? 0 : kTitleRoom);
  const bool x_labelled = !with_factor(plot.x_label, axis_ticks(layout.frame.x, 4)).empty();
  area.bottom = plot.height - legend_height - kMargin - kTickLength - kLabelSize -
                (x_labelled ? kLabelRoom : 0);
  area.bottom = std::max(area.bottom, area.top + kSmallestArea);
  layout.y_ticks = vertical_ticks(layout.frame.y, area.height());
  layout.y_label = with_factor(plot.y_label, layout.y_ticks);
  area.left = kMargin + (layout.y_label.empty() ? 0 : kLabelRoom) + widest_label(layout.y_ticks) +
              kTickLength + 3;
  area.right = std::max(plot.width - kRightMargin, area.left + kSmallestArea);
  layout.x_ticks = horizontal_ticks(layout.frame.x, area.width());
  layout.x_label = with_factor(plot.x_label, layout.x_ticks);
  return layout;
}

std::string line(double x0, double y0, double dx, double dy) {
  return fmt::format("M{} {}l{} {}", short_number(x0), short_number(y0), short_number(dx),
                     short_number(dy));
}

std::string stroke(std::string_view path, std::string_view color) {
  if (path.empty()) return {};
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", path, color);
}

std::string draw_frame(const Layout& layout) {
  const PlotArea& area = layout.frame.area;
  const auto across = [&](double position) { return area.left + position * area.width(); };
  const auto up = [&](double position) { return area.bottom - position * area.height(); };
  std::string grid, axes;
  for (const Tick& tick : layout.x_ticks.major) {
    grid += line(across(tick.position), area.bottom, 0, -area.height());
    axes += line(across(tick.position), area.bottom, 0, kTickLength);
  }
  for (const Tick& tick : layout.y_ticks.major) {
    grid += line(area.left, up(tick.position), area.width(), 0);
    axes += line(area.left, up(tick.position), -kTickLength, 0);
  }
  for (const double position : layout.x_ticks.minor) {
    axes += line(across(position), area.bottom, 0, kTickLength / 2);
  }
  for (const double position : layout.y_ticks.minor) {
    axes += line(area.left, up(position), -kTickLength / 2, 0);
  }
  axes +=
      line(area.left, area.top, 0, area.height()) + line(area.left, area.bottom, area.width(), 0);
  return stroke(grid, kGridColor) + stroke(axes, kAxisColor);
}

std::string draw_numbers(const Layout& layout, double plot_width) {
  const PlotArea& area = layout.frame.area;
  std::string svg = "<g text-anchor=\"middle\">\n";
  const auto text = [&svg](double x, double y, std::string_view label) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", short_number(x), short_number(y),
                       escape_markup(label));
  };
  for (const Tick& tick : layout.x_ticks.major) {
    const double half = estimated_width(tick.label, kPlotTextSize) / 2;
    text(std::min(area.left + tick.position * area.width(), plot_width - half - 1),
         area.bottom + kTickLength + kPlotTextSize, tick.label);
  }
  svg += "</g>\n<g text-anchor=\"end\">\n";
  for (const Tick& tick : layout.y_ticks.major) {
    text(area.left - kTickLength - 3,
         area.bottom - tick.position * area.height() + 0.35 * kPlotTextSize, tick.label);
  }
  return svg + "</g>\n";
}

std::string label_text(std::string_view place, std::string_view label, double size, double room,
                       std::string_view more = "") {
  if (label.empty()) return {};
  return fmt::format("<text {} font-size=\"{}\" text-anchor=\"middle\"{}>{}</text>\n", place, size,
                     more, escape_markup(fit_to_width(label, size, room)));
}

std::string draw_labels(const Plot& plot, const Layout& layout) {
  const PlotArea& area = layout.frame.area;
  const double x_middle = (area.left + area.right) / 2, y_middle = (area.top + area.bottom) / 2;
  const auto at = [](double x, double y) {
    return fmt::format("x=\"{}\" y=\"{}\"", short_number(x), short_number(y));
  };
  const std::string turned =
      fmt::format("transform=\"translate({} {})rotate(-90)\"",
                  short_number(kMargin + kLabelSize - 3), short_number(y_middle));
  // A title wider than the area may reach over it on both sides, as far as the nearer edge.
  const double title_room = 2 * std::min(x_middle, plot.width - x_middle) - kMargin;
  return label_text(at(x_middle, kMargin + kTitleSize - 2), plot.title, kTitleSize,
                    0.94 * title_room, " font-weight=\"bold\"") +
         label_text(at(x_middle, area.bottom + kTickLength + kPlotTextSize + kLabelRoom),
                    layout.x_label, kLabelSize, plot.width - kMargin) +
         label_text(turned, layout.y_label, kLabelSize,
                    2 * std::min(y_middle, plot.height - y_middle));
}

std::vector<LegendEntry> legend_entries(const Plot& plot, const std::vector<DrawnSeries>& drawn) {
  std::vector<LegendEntry> entries;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const std::string& name = plot.series[i].name;
    if (!name.empty() && !drawn[i].empty()) entries.push_back({name, drawn[i].look});
  }
  return entries;
}

/// The left top corner of a legend in a corner of the area where it hides nothing, if there is one.
std::optional<PlotPoint> free_corner(const Legend& legend, const PlotArea& area,
                                     const std::vector<DrawnSeries>& drawn) {
  const double left = area.left + kLegendMargin, right = area.right - kLegendMargin - legend.width;
  const double top = area.top + 2, bottom = area.bottom - kLegendMargin - legend.height;
  if (right < left || bottom < top) return std::nullopt;
  const PlotPoint corners[] = {{right, top}, {right, bottom}, {left, top}, {left, bottom}};
  for (const PlotPoint& corner : corners) {
    const PlotArea box{corner.x, corner.y, corner.x + legend.width, corner.y + legend.height};
    if (!covers_data(box.grown(3), drawn)) return corner;
  }
  return std::nullopt;
}

/// The elements of a plot, without the SVG element around them.
std::string draw_plot(const Plot& plot) {
  Layout layout = make_layout(plot, 0);
  std::vector<DrawnSeries> drawn = drawn_series(plot, layout.frame);
  const std::vector<LegendEntry> entries = legend_entries(plot, drawn);
  std::string legend_svg;
  PlotArea legend_box;
  if (!entries.empty()) {
    const Legend inside = stacked_legend(entries, 0.6 * layout.frame.area.width());
    if (const auto corner = free_corner(inside, layout.frame.area, drawn)) {
      legend_svg = draw_legend(inside, corner->x, corner->y, true);
      legend_box = {corner->x, corner->y, corner->x + inside.width, corner->y + inside.height};
    } else {
      const double left = layout.frame.area.left;
      const Legend below = wide_legend(entries, plot.width - kMargin - left);
      layout = make_layout(plot, below.height + kLegendMargin);
      drawn = drawn_series(plot, layout.frame);
      legend_svg = draw_legend(below, left, plot.height - below.height - kLegendMargin, false);
    }
  }
  std::string svg = draw_frame(layout);
  for (const DrawnSeries& series : drawn) svg += draw_series(series);
  for (const PointLabel& label : place_labels(plot, layout.frame, drawn, legend_box)) {
    svg += draw_label(label);
  }
  if (std::all_of(drawn.begin(), drawn.end(), [](const DrawnSeries& s) { return s.empty(); })) {
    const PlotArea& area = layout.frame.area;
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">no data</text>\n",
                    short_number((area.left + area.right) / 2),
                    short_number((area.top + area.bottom) / 2), kFaintColor);
  }
  return svg + draw_numbers(layout, plot.width) + draw_labels(plot, layout) + legend_svg;
}

std::string svg_file(double width, double height, std::string_view label, std::string_view body) {
  const std::string w = short_number(width), h = short_number(height);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" "
      "role=\"img\" aria-label=\"{}\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"{}\" fill=\"{}\">\n<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n{}</svg>\n",
      w, h, w, h, escape_markup(label), kPlotTextSize, kTextColor, w, h, body);
}

}  // namespace

std::string to_svg(const Plot& plot) {
  check(plot);
  return svg_file(plot.width, plot.height, plot.title, draw_plot(plot));
}

std::string to_svg(const std::vector<Plot>& plots, int columns) {
  SACT_ASSERT(columns >= 1);
  std::vector<double> widths(std::min(plots.size(), size_t(columns)));
  for (size_t i = 0; i < plots.size(); ++i) {
    check(plots[i]);
    double& width = widths[i % widths.size()];
    width = std::max(width, double(plots[i].width));
  }
  std::string body, label;
  double x = 0, y = 0, row_height = 0, total_width = 0;
  for (size_t i = 0; i < plots.size(); ++i) {
    if (i > 0 && i % widths.size() == 0) {
      x = 0;
      y += row_height + kGridGap;
      row_height = 0;
    }
    body += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", short_number(x),
                        short_number(y), draw_plot(plots[i]));
    label += (i > 0 ? "; " : "") + plots[i].title;
    x += widths[i % widths.size()] + kGridGap;
    row_height = std::max(row_height, double(plots[i].height));
    total_width = std::max(total_width, x - kGridGap);
  }
  return svg_file(std::max(1.0, total_width), std::max(1.0, y + row_height), label, body);
}

}  // namespace sact::report
