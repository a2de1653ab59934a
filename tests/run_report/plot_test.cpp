// Tests of plots by reading the SVG back.
#include "report/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/random.h"
#include "elements.h"
#include "report/series_style.h"

namespace sact::report {
namespace {

using test::Element;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Plot plot_of(Series series) {
  Plot plot;
  plot.series = {std::move(series)};
  return plot;
}

Series curve(std::vector<double> x, std::vector<double> y) {
  Series series;
  series.x = std::move(x);
  series.y = std::move(y);
  return series;
}

/// The path of the curve of the n-th colour; empty when there is none.
std::string path_of_series(const std::string& svg, int index = 0) {
  for (const Element& path : test::elements_named(svg, "path")) {
    if (path["stroke"] == hex_color(series_style(index).color) && path["fill"] == "none") {
      return path["d"];
    }
  }
  return {};
}

/// All coordinates in a path of absolute straight lines.
std::vector<double> numbers_in(std::string path) {
  for (char& c : path) {
    if (std::isalpha(c)) c = ' ';
  }
  std::istringstream stream(path);
  std::vector<double> numbers;
  for (double value; stream >> value;) numbers.push_back(value);
  return numbers;
}

bool has_text(const std::string& svg, const std::string& text) {
  const std::vector<std::string> texts = test::texts_of(svg, "text");
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

TEST(Plot, PointsLandWhereTheAxesSay) {
  Plot plot = plot_of(curve({0, 50, 100}, {0, 1, 0}));
  plot.x_range = {0, 100};
  plot.y_range = {0, 1};
  const std::vector<double> at = numbers_in(path_of_series(to_svg(plot)));
  ASSERT_EQ(at.size(), 6u);
  EXPECT_NEAR(at[2], (at[0] + at[4]) / 2, 0.01);
  EXPECT_LT(at[3], at[1]) << "larger values are higher up";
  EXPECT_EQ(at[1], at[5]);
}

TEST(Plot, LogarithmicAxesSpaceRatiosEqually) {
  Plot plot = plot_of(curve({1, 10, 100}, {1e-3, 1e-2, 1e-1}));
  plot.log_x = plot.log_y = true;
  const std::vector<double> at = numbers_in(path_of_series(to_svg(plot)));
  ASSERT_EQ(at.size(), 6u);
  EXPECT_NEAR(at[2] - at[0], at[4] - at[2], 0.02);
  EXPECT_NEAR(at[3] - at[1], at[5] - at[3], 0.02);
}

TEST(Plot, LogarithmicAxesLeaveOutWhatHasNoLogarithm) {
  Plot plot = plot_of(curve({0, 1, 2, 3}, {1, 0, 10, 100}));
  plot.log_y = true;
  const std::string path = path_of_series(to_svg(plot));
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2) << path;
}

TEST(Plot, GapsBreakTheLineAndLonePointsAreDots) {
  const std::string path = path_of_series(
      to_svg(plot_of(curve({0, 1, 2, 3, 4, 5, 6}, {1, 2, kNaN, 3, INFINITY, 1, 2}))));
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 3) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'h'), 1) << path;
  EXPECT_EQ(path.find("nan"), std::string::npos);
  EXPECT_EQ(path.find("inf"), std::string::npos);
}

TEST(Plot, WithoutDataItSaysSo) {
  for (const Series& series : {curve({}, {}), curve({1, 2}, {kNaN, kNaN})}) {
    const std::string svg = to_svg(plot_of(series));
    EXPECT_TRUE(has_text(svg, "no data"));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
  }
  EXPECT_TRUE(has_text(to_svg(Plot{}), "no data"));
  EXPECT_FALSE(has_text(to_svg(plot_of(curve({1}, {1}))), "no data"));
}

TEST(Plot, TextIsEscaped) {
  Plot plot = plot_of(curve({0, 1}, {0, 1}));
  plot.title = "a < b & \"c\"";
  plot.x_label = "<x>";
  plot.y_label = "τ's";
  plot.series[0].name = "<script>";
  const std::string svg = to_svg(plot);
  EXPECT_TRUE(has_text(svg, "a &lt; b &amp; &quot;c&quot;"));
  EXPECT_TRUE(has_text(svg, "&lt;x&gt;"));
  EXPECT_TRUE(has_text(svg, "τ&#39;s"));
  EXPECT_TRUE(has_text(svg, "&lt;script&gt;"));
}

TEST(Plot, ManyPointsStaySmallAndKeepPeaks) {
  const uint64_t seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Series series;
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(random.uniform());
  }
  series.y[77'777] = 50;
  const std::string svg = to_svg(plot_of(series));
  EXPECT_LT(svg.size(), 100'000u);
  const std::vector<double> at = numbers_in(path_of_series(svg));
  double highest = 1e9, x_of_highest = 0;
  for (size_t i = 0; i + 1 < at.size(); i += 2) {
    if (at[i + 1] < highest) x_of_highest = at[i], highest = at[i + 1];
  }
  EXPECT_NEAR((x_of_highest - at[0]) / (at[at.size() - 2] - at[0]), 0.77777, 0.002);
  EXPECT_LT(highest, 30) << "the peak is at the top of the plot";
}

TEST(Plot, ManyGapsMarkersAndErrorBarsStaySmallToo) {
  const uint64_t seed = 8;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Series gaps, cloud, bars;
  cloud.line = false;
  cloud.markers = bars.markers = true;
  for (int i = 0; i < 100'000; ++i) {
    gaps.x.push_back(i);
    gaps.y.push_back(i % 3 == 0 ? kNaN : random.uniform());
    cloud.x.push_back(random.normal());
    cloud.y.push_back(random.normal());
    bars.x.push_back(i);
    bars.y.push_back(random.uniform());
    bars.y_error.push_back(0.1);
  }
  for (const Series& series : {gaps, cloud, bars}) {
    EXPECT_LT(to_svg(plot_of(series)).size(), 150'000u);
  }
}

TEST(Plot, LinesAreCutOffAtTheWantedRange) {
  Plot plot = plot_of(curve({0, 1, 2, 3}, {0.5, 1e9, -1e9, 0.5}));
  plot.y_range = {0, 1};
  for (const double value : numbers_in(path_of_series(to_svg(plot)))) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 420);
  }
}

TEST(Plot, ErrorBarsWidenTheRange) {
  Series series = curve({1, 2}, {5, 5});
  series.y_error = {3, kNaN};
  const std::string svg = to_svg(plot_of(series));
  EXPECT_TRUE(has_text(svg, "2"));
  EXPECT_TRUE(has_text(svg, "8"));
}

TEST(Plot, ErrorBarsThatReachZeroEndAtALogarithmicAxis) {
  Plot plot = plot_of(curve({1, 2}, {5, 6}));
  plot.series[0].y_error = {5, 1};
  plot.log_y = true;
  const std::string svg = to_svg(plot);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

/// The card behind a legend, if it is inside the plot.
std::vector<Element> legend_cards(const std::string& svg) {
  std::vector<Element> cards;
  for (const Element& rect : test::elements_named(svg, "rect")) {
    if (!rect["rx"].empty()) cards.push_back(rect);
  }
  return cards;
}

TEST(Plot, LegendTakesTheFreeCorner) {
  Plot falling = plot_of(curve({0, 1, 2, 3}, {9, 3, 1, 0.5}));
  falling.series[0].name = "loss";
  Plot rising = plot_of(curve({0, 1, 2, 3}, {0, 6, 8, 9}));
  rising.series[0].name = "accuracy";
  const std::vector<Element> high = legend_cards(to_svg(falling));
  const std::vector<Element> low = legend_cards(to_svg(rising));
  ASSERT_EQ(high.size(), 1u);
  ASSERT_EQ(low.size(), 1u);
  EXPECT_LT(std::stod(high[0]["y"]), 60);
  EXPECT_GT(std::stod(low[0]["y"]), 150);
}

TEST(Plot, LegendGoesBelowWhereItWouldHideData) {
  Series dense;
  dense.name = "everywhere";
  for (int i = 0; i < 500; ++i) {
    dense.x.push_back(i);
    dense.y.push_back(i % 2);
  }
  const std::string svg = to_svg(plot_of(dense));
  EXPECT_TRUE(legend_cards(svg).empty());
  EXPECT_TRUE(has_text(svg, "everywhere"));
}

TEST(Plot, LegendNamesOnlyWhatIsShown) {
  Plot plot = plot_of(curve({0, 1}, {0, 1}));
  plot.series.push_back(curve({0, 1}, {kNaN, kNaN}));
  plot.series[1].name = "not yet";
  const std::string svg = to_svg(plot);
  EXPECT_FALSE(has_text(svg, "not yet"));
  EXPECT_TRUE(legend_cards(svg).empty());
}

TEST(Plot, StyleIsByPlaceUnlessGiven) {
  Plot plot = plot_of(curve({0, 1}, {0, 1}));
  plot.series.push_back(curve({0, 1}, {1, 0}));
  EXPECT_FALSE(path_of_series(to_svg(plot), 1).empty());
  plot.series[1].style = 4;
  EXPECT_TRUE(path_of_series(to_svg(plot), 1).empty());
  EXPECT_FALSE(path_of_series(to_svg(plot), 4).empty());
}

TEST(Plot, AxisLabelsNameThePowerOfTen) {
  Plot plot = plot_of(curve({0, 200'000}, {0, 1}));
  plot.x_label = "step";
  EXPECT_TRUE(has_text(to_svg(plot), "step (×10³)"));
}

TEST(Plot, SamePlotSameText) {
  Plot plot = plot_of(curve({0, 1, 2}, {0.1, 0.2, 0.15}));
  plot.series[0].markers = true;
  EXPECT_EQ(to_svg(plot), to_svg(plot));
}

TEST(Plot, SmallestPlotWithLongTextsIsWellFormed) {
  Plot plot = plot_of(curve({-1e-9, 1e9}, {-12345.678, 1}));
  plot.title = plot.x_label = plot.y_label = plot.series[0].name = std::string(500, 'W');
  plot.width = 160;
  plot.height = 120;
  const std::string svg = to_svg(plot);
  EXPECT_EQ(test::elements_named(svg, "svg").size(), 1u);
  EXPECT_LT(svg.size(), 6000u) << "texts are shortened";
}

TEST(PlotGrid, RowsAndColumnsTakeTheLargestOfTheirPlots) {
  Plot small = plot_of(curve({0, 1}, {0, 1})), wide = small, high = small;
  wide.width = 600;
  high.height = 500;
  const std::string svg = to_svg({small, wide, high}, 2);
  const Element root = test::elements_named(svg, "svg").at(0);
  EXPECT_EQ(root["width"], "1032");  // 420 + 12 + 600
  EXPECT_EQ(root["height"], "812");  // 300 + 12 + 500
  std::vector<std::string> places;
  for (const Element& group : test::elements_named(svg, "g")) {
    if (!group["transform"].empty()) places.push_back(group["transform"]);
  }
  EXPECT_EQ(places,
            (std::vector<std::string>{"translate(0 0)", "translate(432 0)", "translate(0 312)"}));
}

TEST(PlotGrid, NoPlotsGiveAValidFile) {
  EXPECT_EQ(test::elements_named(to_svg(std::vector<Plot>{}, 3), "svg").size(), 1u);
}

}  // namespace
}  // namespace sact::report
