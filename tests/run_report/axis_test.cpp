// Tests of ranges and round numbers on axes.
#include "report/axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sact::report {
namespace {

std::vector<std::string> labels(const Axis& axis, int max_count) {
  std::vector<std::string> out;
  for (const Tick& tick : axis_ticks(axis, max_count).major) out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(Axis, RoomIsLeftAroundDataButNotBeyondZero) {
  const Axis around = make_axis({10, 20}, {}, false);
  EXPECT_DOUBLE_EQ(around.low, 9.6);
  EXPECT_DOUBLE_EQ(around.high, 20.4);
  EXPECT_EQ(make_axis({0.1, 100}, {}, false).low, 0);
  EXPECT_EQ(make_axis({-100, 0}, {}, false).high, 0);
  EXPECT_LT(make_axis({-1, 100}, {}, false).low, -1);
}

TEST(Axis, WantedRangeIsTakenAsItIs) {
  const Axis axis = make_axis({10, 20}, {0, 1}, false);
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 1);
}

TEST(Axis, OneValueStandsInTheMiddle) {
  for (const double value : {0.0, 5.0, -3e-7, 1e9}) {
    const Axis axis = make_axis({value, value}, {}, false);
    EXPECT_LE(axis.low, value);
    EXPECT_GE(axis.high, value);
    EXPECT_GE(axis_ticks(axis, 5).major.size(), 2u) << value;
  }
  EXPECT_NEAR(make_axis({1e-3, 1e-3}, {}, true).position(1e-3), 0.5, 1e-12);
}

TEST(Axis, ExtremeRangesStillHaveTicks) {
  for (const ValueRange& range : {ValueRange{-1e200, 1e200},
                                  {1e-200, 2e-200},
                                  {0, 5e-324},
                                  {1, 1 + 1e-15},
                                  {1e15, 1e15 + 1}}) {
    const AxisTicks ticks = axis_ticks(make_axis(range, {}, false), 6);
    EXPECT_GE(ticks.major.size(), 1u) << range.low << " to " << range.high;
    EXPECT_LE(ticks.major.size(), 6u);
  }
  EXPECT_FALSE(axis_ticks(make_axis({1e-200, 1e200}, {}, true), 6).major.empty());
}

TEST(Axis, LabelsHaveTheDecimalsTheyNeed) {
  EXPECT_EQ(labels({0, 1, false}, 6), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels({-2, 2, false}, 5), (Labels{"−2", "−1", "0", "1", "2"}));
  EXPECT_EQ(labels({75.4, 76.6, false}, 4), (Labels{"75.5", "76.0", "76.5"}));
}

TEST(Axis, LargeAndSmallNumbersShareAPowerOfTen) {
  const AxisTicks steps = axis_ticks({0, 200'000, false}, 5);
  EXPECT_EQ(steps.factor, "10³");
  EXPECT_EQ(steps.major.back().label, "200");
  const AxisTicks rates = axis_ticks({0, 2e-4, false}, 5);
  EXPECT_EQ(rates.factor, "10⁻⁶");
  EXPECT_EQ(rates.major.back().label, "200");
  EXPECT_EQ(axis_ticks({0, 90'000, false}, 5).factor, "");
}

TEST(Axis, LogarithmicPositionsAreRatios) {
  const Axis axis{0.01, 100, true};
  EXPECT_DOUBLE_EQ(axis.position(1), 0.5);
  EXPECT_DOUBLE_EQ(axis.position(10), 0.75);
  EXPECT_FALSE(axis.shows(0));
  EXPECT_FALSE(axis.shows(-1));
  EXPECT_FALSE(axis.shows(std::nan("")));
  EXPECT_FALSE(axis.shows(INFINITY));
}

TEST(Axis, LogarithmicTicksFitTheirNumber) {
  EXPECT_EQ(labels({0.001, 1, true}, 4), (Labels{"0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(labels({0.9, 11, true}, 6), (Labels{"1", "2", "5", "10"}));
  EXPECT_EQ(labels({1e-8, 1e8, true}, 5), (Labels{"10⁻⁸", "0.0001", "1", "10000", "10⁸"}));
  EXPECT_EQ(labels({1.1, 1.9, true}, 5), (Labels{"1.2", "1.4", "1.6", "1.8"}));
}

}  // namespace
}  // namespace sact::report
