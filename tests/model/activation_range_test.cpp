// Ranges of what layers read, and the scales that they give.
#include "model/activation_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "support/errors.h"

namespace sact {
namespace {

TEST(ActivationRange, TheLargestNumberBecomes255) {
  ActivationRange range;
  range.add(std::vector<float>{0, 1, 2.55f});
  range.add(std::vector<float>{0.5f, -7, 5.1f});
  EXPECT_FLOAT_EQ(range.scale(RangeMethod::kMax), 5.1f / 255);
  EXPECT_EQ(range.count(), 6);
}

TEST(ActivationRange, OfZerosAloneIsOne) {
  ActivationRange range;
  range.add(std::vector<float>{0, 0, -1});
  for (const NamedRangeMethod& known : kRangeMethods) EXPECT_EQ(range.scale(known.method), 1);
}

TEST(ActivationRange, APercentileLeavesOutOneInTenThousand) {
  ActivationRange range;
  std::vector<float> values(20000, 1.0f);
  values[7] = 50;  // one of twenty thousand
  range.add(values);
  EXPECT_NEAR(range.scale(RangeMethod::kPercentile) * 255, 1, 64.0 / 2048);
  EXPECT_FLOAT_EQ(range.scale(RangeMethod::kMax), 50.0f / 255);
}

/// The mean of squared errors of rounding to whole numbers of a scale.
double squared_error(const std::vector<float>& values, double scale) {
  double sum = 0;
  for (const float value : values) {
    const double whole = std::min(std::nearbyint(std::max(value, 0.0f) / scale), 255.0);
    sum += std::pow(std::max(value, 0.0f) - whole * scale, 2);
  }
  return sum;
}

TEST(ActivationRange, TheSmallestSquaredErrorIsSmallerThanTheOthers) {
  Random random(3);
  for (const double tail : {1.0, 2.0, 4.0}) {
    std::vector<float> values(50000);
    for (float& value : values) value = float(std::pow(std::abs(random.normal()), tail));
    ActivationRange range;
    for (size_t i = 0; i < values.size(); i += 100) range.add({values.data() + i, 100});
    const double best = squared_error(values, range.scale(RangeMethod::kMse));
    EXPECT_LE(best, 1.02 * squared_error(values, range.scale(RangeMethod::kMax)));
    EXPECT_LE(best, 1.02 * squared_error(values, range.scale(RangeMethod::kPercentile)));
    for (const double factor : {0.7, 0.85, 1.2, 1.5}) {
      EXPECT_LE(best, 1.02 * squared_error(values, factor * range.scale(RangeMethod::kMse)))
          << tail << ", " << factor;
    }
  }
}

TEST(ActivationRange, GrowsWithWhatItSees) {
  ActivationRange slowly, at_once;
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i) values.push_back(std::exp2(float(i) / 200));
  for (const float value : values) slowly.add({&value, 1});
  at_once.add(values);
  for (const NamedRangeMethod& known : kRangeMethods) {
    EXPECT_NEAR(slowly.scale(known.method), at_once.scale(known.method),
                0.01 * at_once.scale(known.method))
        << known.name;
  }
}

TEST(ActivationRange, RefusesWhatIsNotFinite) {
  ActivationRange range;
  const std::vector<float> values = {1, std::numeric_limits<float>::infinity()};
  EXPECT_NE(test::error_of([&] { range.add(values); }).find("not finite"), std::string::npos);
  EXPECT_NE(test::error_of([] { range_method_from_name("best"); }).find("percentile"),
            std::string::npos);
}

}  // namespace
}  // namespace sact
