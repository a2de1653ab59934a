// The choice of shifts for a calibration, on networks that are functions.
#include "app/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sact::app {
namespace {

/// The widest step of work between shifts.
double widest_step(const std::vector<double>& shifts, const std::function<double(double)>& share) {
  double widest = 0;
  for (size_t i = 1; i < shifts.size(); ++i) {
    widest = std::max(widest, share(shifts[i - 1]) - share(shifts[i]));
  }
  return widest;
}

TEST(ChooseShifts, WorkIsCoveredInEvenStepsFromEndToEnd) {
  for (const double centre : {-3.0, 0.0, 7.0, 2500.0}) {
    for (const double steepness : {0.002, 0.5, 2.0, 10.0}) {
      const auto share = [&](double shift) {
        return 0.3 + 0.7 / (1 + std::exp(steepness * (shift - centre)));
      };
      int calls = 0;
      const auto counted = [&](double shift) {
        ++calls;
        return share(shift);
      };
      const std::vector<double> shifts = choose_shifts(counted, 0.3, 1.0, 9);
      EXPECT_GE(shifts.size(), 8u);
      EXPECT_LE(shifts.size(), 12u);
      EXPECT_TRUE(std::is_sorted(shifts.begin(), shifts.end()));
      EXPECT_NE(std::find(shifts.begin(), shifts.end(), 0.0), shifts.end());
      EXPECT_GT(share(shifts.front()), 0.99);
      EXPECT_LT(share(shifts.back()), 0.31);
      EXPECT_LT(widest_step(shifts, share), 1.6 * 0.7 / 8) << centre << " " << steepness;
      EXPECT_LE(calls, 60);
    }
  }
}

TEST(ChooseShifts, ABudgetBetweenTwoOfThemIsMetNearTheEndsToo) {
  auto share = [](double shift) { return 0.3 + 0.7 / (1 + std::exp((shift - 150) / 180)); };
  const std::vector<double> shifts = choose_shifts(share, 0.3, 1.0, 9);
  for (double wanted = 0.34; wanted < 0.99; wanted += 0.01) {
    auto after = shifts.begin() + 1;
    while (share(*after) > wanted) ++after;
    const double before = *(after - 1);
    const double part = (share(before) - wanted) / (share(before) - share(*after));
    EXPECT_NEAR(share(before + part * (*after - before)), wanted, 0.02) << wanted;
  }
}

TEST(ChooseShifts, ANetworkThatNeverChangesIsLeftInTheEnd) {
  const std::vector<double> shifts = choose_shifts([](double) { return 0.5; }, 0.3, 1.0, 9);
  EXPECT_GE(shifts.size(), 3u);
}

TEST(DialPlots, ShowWhatThereIs) {
  Dial dial;
  dial.size = {64, 64};
  dial.images = 3;
  dial.points = {{-1, {0.9, 0.1}, {2, 3}, 0.95, {}, {}}, {1, {0.5, 0.1}, {1, 2}, 0.8, {}, {}}};
  EXPECT_EQ(dial_plots(dial).find("accuracy"), std::string::npos);
  EXPECT_EQ(dial_table(dial).header.size(), 5u);
  for (DialPoint& point : dial.points) point.accuracy = 0.7;
  EXPECT_NE(dial_plots(dial).find("accuracy"), std::string::npos);
  EXPECT_EQ(dial_table(dial).rows[1].back(), "70.0");
}

}  // namespace
}  // namespace sact::app
