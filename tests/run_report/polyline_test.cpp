// Tests of thinning and clipping.
#include "report/polyline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace sact::report {
namespace {

constexpr PlotArea kArea{0, 0, 100, 50};

bool holds(const Polyline& line, const PlotPoint& point) {
  return std::find(line.begin(), line.end(), point) != line.end();
}

TEST(Thinned, ShortLinesAreLeftAlone) {
  const Polyline line = {{0, 1}, {0.1, 2}, {0.2, 3}, {0.3, 2.5}, {0.4, 2}, {0.5, 1}, {0.6, 7}};
  EXPECT_EQ(thinned(line, 7), line);
}

TEST(Thinned, EveryColumnKeepsItsEndsAndExtremes) {
  const uint64_t seed = 42;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Polyline line;
  for (int i = 0; i < 100'000; ++i) line.push_back({i * 400 / 1e5, random.normal()});
  const Polyline thin = thinned(line, 6000);
  EXPECT_LE(thin.size(), 400u * 4);
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(),
                             [](const auto& a, const auto& b) { return a.x < b.x; }));
  for (int column = 0; column < 400; ++column) {
    const auto begin = line.begin() + column * 250, end = begin + 250;
    const auto lower = [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; };
    EXPECT_TRUE(holds(thin, *begin) && holds(thin, *(end - 1))) << column;
    EXPECT_TRUE(holds(thin, *std::min_element(begin, end, lower))) << column;
    EXPECT_TRUE(holds(thin, *std::max_element(begin, end, lower))) << column;
  }
}

TEST(Thinned, LinesThatRunToAndFroAreBoundedAndKeepTheirExtremes) {
  const uint64_t seed = 43;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Polyline line;
  for (int i = 0; i < 50'000; ++i) line.push_back({random.uniform(0, 400), random.uniform(0, 300)});
  line[777] = {-10, 20};
  line[40'000] = {50, 900};
  const Polyline thin = thinned(line, 600);
  EXPECT_LE(thin.size(), 600u);
  EXPECT_TRUE(holds(thin, line[777]) && holds(thin, line[40'000]));
  EXPECT_EQ(thin.front(), line.front());
  EXPECT_EQ(thin.back(), line.back());
}

TEST(WithoutNeighbours, OneOfEachSquareStays) {
  const Polyline points = {{0, 0}, {0.4, 0.4}, {5, 0}, {0, 5}, {-5, 0}, {0.1, 0}};
  EXPECT_EQ(without_neighbours(points, 2), (Polyline{{0, 0}, {5, 0}, {0, 5}, {-5, 0}}));
}

TEST(Clip, SegmentsAreCutAtTheBorders) {
  PlotPoint from{-50, 25}, to{150, 25};
  ASSERT_TRUE(clip_segment(from, to, kArea));
  EXPECT_EQ(from, (PlotPoint{0, 25}));
  EXPECT_EQ(to, (PlotPoint{100, 25}));
  from = {90, -10};
  to = {110, 10};
  ASSERT_TRUE(clip_segment(from, to, kArea));  // touches the corner
  EXPECT_EQ(from, to);
  from = {95, -10};
  to = {115, 10};
  EXPECT_FALSE(clip_segment(from, to, kArea));
  from = {10, 60};
  to = {90, 60};
  EXPECT_FALSE(clip_segment(from, to, kArea));
}

TEST(Clip, ReversedSegmentsKeepTheirDirection) {
  PlotPoint from{50, 100}, to{50, -100};
  ASSERT_TRUE(clip_segment(from, to, kArea));
  EXPECT_EQ(from, (PlotPoint{50, 50}));
  EXPECT_EQ(to, (PlotPoint{50, 0}));
}

TEST(Clip, LineThatLeavesAndReturnsHasTwoParts) {
  const std::vector<Polyline> parts = clipped({{10, 25}, {20, 25}, {30, 100}, {40, 25}}, kArea);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].size(), 3u);
  EXPECT_EQ(parts[0][2].y, 50);
  EXPECT_EQ(parts[1][0].y, 50);
  EXPECT_EQ(parts[1][1], (PlotPoint{40, 25}));
}

TEST(Clip, LonePointStaysWhenInside) {
  EXPECT_EQ(clipped({{5, 5}}, kArea).size(), 1u);
  EXPECT_TRUE(clipped({{5, 55}}, kArea).empty());
}

}  // namespace
}  // namespace sact::report
