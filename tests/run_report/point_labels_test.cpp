// Labels beside points: where they stand.
#include "report/point_labels.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "elements.h"

namespace sact::report {
namespace {

struct Labelled {
  Plot plot;
  PlotFrame frame;
  std::vector<DrawnSeries> drawn;
};

Labelled labelled(std::vector<double> x, std::vector<double> y, std::vector<std::string> labels) {
  Labelled out;
  Series series;
  series.x = std::move(x);
  series.y = std::move(y);
  series.labels = std::move(labels);
  series.markers = true;
  out.plot.series = {series};
  out.plot.x_range = out.plot.y_range = {0, 100};
  out.frame = make_frame(out.plot);
  out.frame.area = {0, 0, 400, 300};
  out.drawn = drawn_series(out.plot, out.frame);
  return out;
}

bool within(const PlotArea& box, const PlotArea& area) {
  return box.left >= area.left && box.right <= area.right && box.top >= area.top &&
         box.bottom <= area.bottom;
}

TEST(PointLabels, StandBesideTheirPointsInTheColourOfTheSeries) {
  const Labelled l = labelled({20, 80}, {50, 50}, {"0.01", ""});
  const auto placed = place_labels(l.plot, l.frame, l.drawn, {});
  ASSERT_EQ(placed.size(), 1u) << "an empty label is none";
  EXPECT_EQ(placed[0].text, "0.01");
  EXPECT_EQ(placed[0].color, series_style(0).color);
  EXPECT_TRUE(placed[0].box.grown(12).contains(l.frame.point(20, 50)));
  EXPECT_FALSE(covers_data(placed[0].box, l.drawn)) << "not on the line to the next point";
}

TEST(PointLabels, InACornerTheyStayInside) {
  const Labelled l = labelled({0, 100, 0, 100}, {0, 0, 100, 100}, {"aaaa", "bbbb", "cccc", "dddd"});
  const auto placed = place_labels(l.plot, l.frame, l.drawn, {});
  EXPECT_EQ(placed.size(), 4u);
  for (const PointLabel& label : placed) EXPECT_TRUE(within(label.box, l.frame.area)) << label.text;
}

TEST(PointLabels, NeverLieOnMarkersEachOtherOrTheLegend) {
  const PlotArea legend{300, 0, 400, 80};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<double> x, y;
    for (int i = 0; i < 30; ++i) {
      x.push_back(double(random.below(101)));
      y.push_back(double(random.below(101)));
    }
    Labelled l = labelled(x, y, std::vector<std::string>(30, "0.005"));
    const auto placed = place_labels(l.plot, l.frame, l.drawn, legend);
    EXPECT_GT(placed.size(), 10u);
    for (size_t i = 0; i < placed.size(); ++i) {
      EXPECT_TRUE(within(placed[i].box, l.frame.area));
      EXPECT_FALSE(placed[i].box.overlaps(legend));
      for (const PlotPoint& marker : l.drawn[0].markers) {
        EXPECT_FALSE(placed[i].box.contains(marker));
      }
      for (size_t j = 0; j < i; ++j) EXPECT_FALSE(placed[i].box.overlaps(placed[j].box));
    }
  }
}

TEST(PointLabels, TextIsEscaped) {
  const Labelled l = labelled({50}, {50}, {"<&>"});
  const auto placed = place_labels(l.plot, l.frame, l.drawn, {});
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(test::texts_of(draw_label(placed[0]), "text"),
            std::vector<std::string>{"&lt;&amp;&gt;"});
}

TEST(PointLabels, PlotShowsThem) {
  const std::string svg = to_svg(labelled({20, 80}, {50, 50}, {"0.01", "0.02"}).plot);
  const auto texts = test::texts_of(svg, "text");
  for (const char* label : {"0.01", "0.02"}) {
    EXPECT_EQ(std::count(texts.begin(), texts.end(), label), 1);
  }
}

}  // namespace
}  // namespace sact::report
