// Layout of the map: names on the left and on top, where they stand upright.
#include "report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/unicode.h"
#include "report/colormap.h"
#include "report/legend.h"
#include "report/markup.h"
#include "report/series_style.h"

namespace sact::report {
namespace {

constexpr double kTitleRoom = 22;
constexpr double kGap = 6;
constexpr double kMargin = 4;
constexpr size_t kLongestName = 23;  // with its ellipsis
constexpr int kMaxRowsWithText = 16;

double cell_side(int rows) {
  return rows <= kMaxRowsWithText ? 34 : rows <= 32 ? 20 : 13;
}

std::string text_element(double x, double y, std::string_view anchor, double size,
                         std::string_view color, const std::string& text,
                         const std::string& more = {}) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\"{}>{}</text>\n",
      short_number(x), short_number(y), anchor, short_number(size), color, more,
      escape_markup(text));
}

std::string upright(double x, double y) {
  return fmt::format(" transform=\"rotate(-90 {} {})\"", short_number(x), short_number(y));
}

}  // namespace

std::string to_svg(const HeatMap& map) {
  const int rows = int(map.names.size());
  SACT_ASSERT(rows >= 1 && rows <= kMaxHeatRows);
  const double side = cell_side(rows), font = std::clamp(side * 0.62, 9.0, 12.0);
  double name_room = 0;
  std::vector<std::string> names;
  for (const std::string& name : map.names) {
    names.push_back(cut_end(name, kLongestName));
    name_room = std::max(name_room, estimated_width(names.back(), font) + kGap);
  }
  const double left = kMargin + kTitleRoom + name_room, top = left;
  const double width = left + rows * side + kMargin, height = top + rows * side + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      short_number(width), short_number(height));
  const double middle = left + rows * side / 2;
  svg += text_element(middle, kMargin + 12, "middle", 12, "#5c5c60", map.column_title);
  svg += text_element(kMargin + 12, middle, "middle", 12, "#5c5c60", map.row_title,
                      upright(kMargin + 12, middle));
  for (int i = 0; i < rows; ++i) {
    const double center = (i + 0.5) * side, baseline = font * 0.36;
    svg += text_element(left - kGap, top + center + baseline, "end", font, "#2d2d30",
                        names[size_t(i)]);
    svg += text_element(left + center + baseline, top - kGap, "start", font, "#2d2d30",
                        names[size_t(i)], upright(left + center + baseline, top - kGap));
  }
  svg += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\" fill=\"#f4f4f7\"/>\n",
                     short_number(left), short_number(top), short_number(rows * side));
  for (const HeatCell& cell : map.cells) {
    SACT_ASSERT(cell.row >= 0 && cell.row < rows && cell.column >= 0 && cell.column < rows);
    const double x = left + cell.column * side, y = top + cell.row * side;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
        short_number(x + 0.5), short_number(y + 0.5), short_number(side - 1),
        short_number(side - 1), hex_color(sequential_color(1 - cell.value)),
        escape_markup(cell.tip));
    if (rows > kMaxRowsWithText || cell.text.empty()) continue;
    svg +=
        text_element(x + side / 2, y + side / 2 + 4, "middle", 11,
                     cell.value > 0.4 ? "#fff" : "#2d2d30", cell.text, " pointer-events=\"none\"");
  }
  return svg + "</svg>\n";
}

}  // namespace sact::report
