// The random generator's sequence is part of what a seed means: it must never change.
#include "base/random.h"

#include <gtest/gtest.h>

namespace sact {
namespace {

TEST(Random, SequenceIsFixedForGood) {
  Random random(0);
  EXPECT_EQ(random.bits(), 0xe220a8397b1dcdafull);
  EXPECT_EQ(random.bits(), 0x6e789e6aa1b965f4ull);
}

TEST(Random, DerivedSequencesDiffer) {
  EXPECT_NE(Random::derived(1, 2).bits(), Random::derived(1, 3).bits());
  EXPECT_NE(Random::derived(1, 2).bits(), Random::derived(2, 2).bits());
  EXPECT_EQ(Random::derived(7, 9).bits(), Random::derived(7, 9).bits());
}

TEST(Random, MomentsAreRight) {
  Random random(3);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform(), n = random.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    normal_sum += n;
    normal_squares += n * n;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.005);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.005);
  EXPECT_NEAR(normal_sum / kCount, 0, 0.01);
  EXPECT_NEAR(normal_squares / kCount, 1, 0.02);
}

TEST(Random, BelowCoversItsRangeEvenly) {
  Random random(4);
  int counts[7] = {};
  for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

}  // namespace
}  // namespace sact
