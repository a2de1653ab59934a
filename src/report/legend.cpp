// Layout and drawing of legends.
#include "report/legend.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unicode.h"
#include "report/markup.h"

namespace sact::report {
namespace {

constexpr double kRowHeight = 16;
constexpr double kPadding = 6;
constexpr double kSampleWidth = 24;
constexpr double kGap = 6;         // from the sample to the name
constexpr double kColumnGap = 14;  // from a name to the next sample
// A cell of text in sizes of its font. The viewer has the font; in the usual ones digits take 0.56
// to 0.64, and words rather less.
constexpr double kCellWidth = 0.6;
constexpr std::string_view kDashOfSecondary = "5 2.5";

double entry_width(const LegendEntry& entry) {
  return kSampleWidth + kGap + estimated_width(entry.name, kPlotTextSize);
}

std::vector<LegendEntry> shortened(std::vector<LegendEntry> entries, double max_width) {
  for (LegendEntry& entry : entries) {
    entry.name = fit_to_width(entry.name, kPlotTextSize, max_width - kSampleWidth - kGap);
  }
  return entries;
}

std::string draw_entry(const LegendEntry& entry, double x, double y) {
  const double middle = y + kRowHeight / 2;
  std::string svg;
  if (entry.look.line) {
    svg += fmt::format("<path d=\"M{} {}h{}\" {}/>\n", short_number(x), short_number(middle),
                       short_number(kSampleWidth), line_attributes(entry.look));
  }
  if (entry.look.markers) {
    svg += fmt::format(
        "<path d=\"{}\" {}/>\n",
        marker_path(entry.look.style.marker, x + kSampleWidth / 2, middle, kMarkerRadius),
        marker_attributes(entry.look));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", short_number(x + kSampleWidth + kGap),
                     short_number(middle + 0.35 * kPlotTextSize), escape_markup(entry.name));
  return svg;
}

}  // namespace

std::string_view SeriesLook::dash() const {
  if (secondary) return kDashOfSecondary;
  return markers ? std::string_view() : style.dash;
}

std::string line_attributes(const SeriesLook& look) {
  std::string attributes =
      fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
                  hex_color(look.style.color), kLineWidth);
  if (look.dash().empty()) return attributes + " stroke-linecap=\"round\"";
  return attributes + fmt::format(" stroke-dasharray=\"{}\"", look.dash());
}

std::string marker_attributes(const SeriesLook& look) {
  const std::string color = hex_color(look.style.color);
  return look.secondary ? fmt::format("fill=\"#fff\" stroke=\"{}\" stroke-width=\"1.4\"", color)
                        : fmt::format("fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.7\"", color);
}

Legend stacked_legend(const std::vector<LegendEntry>& entries, double max_width) {
  Legend legend{shortened(entries, max_width - 2 * kPadding), {}, 0, 0};
  for (const LegendEntry& entry : legend.entries) {
    legend.places.push_back({kPadding, kPadding / 2 + kRowHeight * double(legend.places.size())});
    legend.width = std::max(legend.width, entry_width(entry) + 2 * kPadding);
  }
  legend.height = kRowHeight * double(entries.size()) + kPadding;
  return legend;
}

Legend wide_legend(const std::vector<LegendEntry>& entries, double width) {
  Legend legend{shortened(entries, width), {}, width, 0};
  double column = 1;
  for (const LegendEntry& entry : legend.entries) {
    column = std::max(column, entry_width(entry) + kColumnGap);
  }
  const size_t columns = std::max<size_t>(1, size_t((width + kColumnGap) / column));
  for (size_t i = 0; i < entries.size(); ++i) {
    legend.places.push_back({column * double(i % columns), kRowHeight * double(i / columns)});
  }
  legend.height = kRowHeight * double((entries.size() + columns - 1) / columns);
  return legend;
}

std::string draw_legend(const Legend& legend, double left, double top, bool frame) {
  std::string svg;
  if (frame) {
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"#fff\" "
        "stroke=\"#d8d8dc\"/>\n",
        short_number(left), short_number(top), short_number(legend.width),
        short_number(legend.height));
  }
  for (size_t i = 0; i < legend.entries.size(); ++i) {
    svg += draw_entry(legend.entries[i], left + legend.places[i].x, top + legend.places[i].y);
  }
  return svg;
}

double estimated_width(std::string_view text, double size) {
  return kCellWidth * size * double(display_width(text));
}

std::string fit_to_width(std::string_view text, double size, double width) {
  return cut_end(text, size_t(std::max(0.0, width) / (kCellWidth * size)));
}

}  // namespace sact::report
