// Scales carry round numbers, tell both ends, and never write one number over another.
#include "report/colorbar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "report/colormap.h"
#include "report/samples.h"

namespace sact::report {
namespace {

using Values = std::vector<double>;
using Labels = std::vector<std::string>;

TEST(NiceTicks, ByValue) {
  EXPECT_EQ(nice_ticks(3.2, 14.8, 6), (Values{4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(nice_ticks(3.2, 14.8, 5), (Values{5, 10}));
  EXPECT_EQ(nice_ticks(0, 1, 11), (Values{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}));
  EXPECT_EQ(nice_ticks(0, 33, 8), (Values{0, 5, 10, 15, 20, 25, 30}));
  EXPECT_EQ(nice_ticks(1, 23, 2), (Values{10, 20}));
}

TEST(NiceTicks, NegativeAndMixedSigns) {
  EXPECT_EQ(nice_ticks(-3, 3, 7), (Values{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(nice_ticks(-3, 3, 5), (Values{-2, 0, 2}));
  EXPECT_EQ(nice_ticks(-0.95, -0.05, 4), (Values{-0.8, -0.6, -0.4, -0.2}));
  EXPECT_FALSE(std::signbit(nice_ticks(-1, 1, 3)[1])) << "zero is written without a sign";
}

TEST(NiceTicks, TinyAndHugeRanges) {
  EXPECT_EQ(nice_ticks(1e-7, 4.2e-7, 4), (Values{1e-7, 2e-7, 3e-7, 4e-7}));
  EXPECT_EQ(nice_ticks(5, 5.0004, 5), (Values{5, 5.0001, 5.0002, 5.0003, 5.0004}));
  EXPECT_EQ(nice_ticks(0, 3e38, 4), (Values{0, 1e38, 2e38, 3e38}));
}

TEST(NiceTicks, EqualEndsGiveThatNumber) {
  EXPECT_EQ(nice_ticks(5, 5, 4), Values{5});
  EXPECT_EQ(nice_ticks(0, 0, 4), Values{0});
  EXPECT_EQ(nice_ticks(1, 1 + 1e-15, 4), Values{1});
  EXPECT_EQ(nice_ticks(0, 5e-324, 4), Values{0});
}

TEST(NiceTicks, AreInsideEvenlySpacedAndNotTooFew) {
  const uint64_t seed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const double scale = std::pow(10.0, random.uniform(-12, 12));
    const double low = scale * random.uniform(-1, 1);
    const double high = low + scale * random.uniform(1e-4, 1);
    const int max_count = 2 + int(random.below(12));
    const Values ticks = nice_ticks(low, high, max_count);
    ASSERT_GE(ticks.size(), size_t(std::max(1, max_count / 3))) << low << " " << high;
    ASSERT_LE(ticks.size(), size_t(max_count)) << low << " " << high;
    const double margin = 1e-8 * (high - low) + 1e-12 * std::abs(low);
    EXPECT_GE(ticks.front(), low - margin);
    EXPECT_LE(ticks.back(), high + margin);
    for (size_t k = 2; k < ticks.size(); ++k) {
      EXPECT_NEAR(ticks[k] - ticks[k - 1], ticks[1] - ticks[0], margin);
    }
  }
}

Labels labels(double low, double high, int height) {
  Labels out;
  for (const Tick& tick : colorbar_ticks({low, high}, height, {12})) out.push_back(tick.label);
  return out;
}

TEST(ColorbarTicks, ShowBothEndsAndRoundNumbersBetween) {
  EXPECT_EQ(labels(3.21, 14.83, 150), (Labels{"3.2", "6", "8", "10", "12", "14.8"}));
  EXPECT_EQ(labels(0, 20, 120), (Labels{"0", "5", "10", "15", "20"}));
  EXPECT_EQ(labels(-1.04, 1.04, 120), (Labels{"−1.04", "−0.5", "0.0", "0.5", "1.04"}));
}

TEST(ColorbarTicks, LargeAndSmallNumbersAreScientific) {
  EXPECT_EQ(labels(0, 4e6, 80), (Labels{"0", "2e6", "4e6"}));
  EXPECT_EQ(labels(1e-6, 3e-6, 80), (Labels{"1e−6", "2e−6", "3e−6"}));
}

TEST(ColorbarTicks, ConstantAndEmptyRangesHaveOneLabel) {
  EXPECT_EQ(labels(33, 33, 200), Labels{"33"});
  EXPECT_EQ(labels(2.5, 2.5, 200), Labels{"2.5"});
  EXPECT_EQ(labels(0, 0, 200), Labels{"0"});
  EXPECT_EQ(labels(100, 100.0001, 200), Labels{"100"}) << "the noise of single precision";
  EXPECT_EQ(labels(1.0 / 3, 1.0 / 3, 200), Labels{"0.3333"});
  EXPECT_EQ(labels(2e7, 2e7, 200), Labels{"2e7"});
  const std::vector<Tick> none = colorbar_ticks(ValueRange(), 100, {12});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].label, "n/a");
}

TEST(ColorbarTicks, NeverOverlap) {
  const uint64_t seed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const Font font{12};
  for (int i = 0; i < 500; ++i) {
    const double low = random.uniform(-30, 30);
    const ValueRange range{low, low + std::pow(10.0, random.uniform(-2, 3))};
    const int height = 24 + int(random.below(400));
    const std::vector<Tick> ticks = colorbar_ticks(range, height, font);
    ASSERT_GE(ticks.size(), 2u);
    EXPECT_EQ(ticks.front().position, 0);
    EXPECT_EQ(ticks.back().position, 1);
    for (size_t k = 1; k < ticks.size(); ++k) {
      EXPECT_GE((ticks[k].position - ticks[k - 1].position) * height, cap_height(font) + 3)
          << range.low << " " << range.high << " at height " << height;
      EXPECT_NE(ticks[k].label, ticks[k - 1].label);
    }
  }
}

TEST(Colorbar, DarkEndIsBelowAndWidthHoldsTheLabels) {
  const ValueRange range{1.5, 22.75};
  const Font font{12};
  const int width = colorbar_width(range, 100, font);
  Canvas canvas(width + 40, 140);
  draw_colorbar(canvas, 10, 20, 100, range, font);
  EXPECT_EQ(test::color_at(canvas.image(), 15, 21), sequential_color(1 - 1 / 99.0));
  EXPECT_EQ(test::color_at(canvas.image(), 15, 118), sequential_color(1 / 99.0));
  const Rectangle ink = test::ink(canvas.image());
  EXPECT_EQ(ink.x, 10);
  EXPECT_LE(ink.x + ink.width, 10 + width);
  EXPECT_GE(ink.width, width - 3);
  EXPECT_GE(ink.y, 20 - cap_height(font));
}

TEST(ValueRange, LeavesOutWhatIsNotFinite) {
  Map map(1, 4);
  map.values = {3, std::numeric_limits<float>::infinity(), -1, std::nanf("")};
  const ValueRange range = finite_range(map);
  EXPECT_EQ(range.low, -1);
  EXPECT_EQ(range.high, 3);
  EXPECT_EQ(finite_mean(map), 1);
  EXPECT_EQ(range.position(0), 0.25);
  EXPECT_TRUE(std::isnan(range.position(std::numeric_limits<double>::infinity())));
  map.values.assign(4, std::nanf(""));
  EXPECT_TRUE(finite_range(map).empty());
  EXPECT_FALSE(finite_range(map).constant());
  EXPECT_TRUE(std::isnan(finite_mean(map)));
}

}  // namespace
}  // namespace sact::report
