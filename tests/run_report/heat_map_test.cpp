// Tests of heat maps by reading their SVG back.
#include "report/heat_map.h"

#include <gtest/gtest.h>

#include "elements.h"

namespace sact::report {
namespace {

TEST(HeatMap, CellsStandInTheirRowAndColumnWithTheirTip) {
  const HeatMap map{"class",
                    "taken for",
                    {"cat", "<dog>", "a name far too long for any axis"},
                    {{0, 0, 1, "9", "cat: 9"}, {2, 1, 0.1, "1", "1 < 2"}}};
  const std::string svg = to_svg(map);
  const auto cells = test::elements_named(svg, "rect");
  ASSERT_EQ(cells.size(), 4u) << "the paper, the empty map, and two cells";
  auto number = [](const test::Element& element, const char* name) {
    return std::stod(element[name]);
  };
  const double side = number(cells[1], "width") / 3;
  EXPECT_NEAR(number(cells[3], "x") - number(cells[1], "x"), 1 * side, 1);
  EXPECT_NEAR(number(cells[3], "y") - number(cells[1], "y"), 2 * side, 1);
  EXPECT_NE(cells[2]["fill"], cells[3]["fill"]);
  EXPECT_EQ(test::texts_of(svg, "title"), (std::vector<std::string>{"cat: 9", "1 &lt; 2"}));
  const auto texts = test::texts_of(svg, "text");
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "&lt;dog&gt;"), 2) << "on both sides";
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "a name far too long fo…"), 2);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "9"), 1);
}

TEST(HeatMap, ManyRowsAreSmallAndWithoutNumbers) {
  HeatMap map;
  for (int i = 0; i < kMaxHeatRows; ++i) {
    map.names.push_back("n" + std::to_string(i));
    map.cells.push_back({i, i, 1, "7777", "tip"});
  }
  const std::string svg = to_svg(map);
  EXPECT_EQ(svg.find("7777"), std::string::npos);
  EXPECT_LT(std::stod(test::elements_named(svg, "svg").at(0)["width"]), 1000);
}

}  // namespace
}  // namespace sact::report
