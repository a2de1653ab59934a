// Tests of boxes and their coding, with values worked out by hand.
#include "detect/box.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "detect/box_coding.h"

namespace sact::detect {
namespace {

TEST(Box, AreasHaveNoExtraPixel) {
  EXPECT_EQ(area({1, 2, 4, 7}), 15);
  EXPECT_EQ(area({1, 2, 1, 7}), 0);
  EXPECT_EQ(area({4, 2, 1, 7}), 0);
  EXPECT_EQ(area({4, 7, 1, 2}), 0);  // not the product of two negative sides
}

TEST(Box, OverlapIsIntersectionOverUnion) {
  EXPECT_EQ(overlap({0, 0, 10, 10}, {0, 0, 10, 10}), 1);
  EXPECT_EQ(intersection({0, 0, 10, 10}, {5, 5, 15, 15}), 25);
  EXPECT_FLOAT_EQ(overlap({0, 0, 10, 10}, {5, 5, 15, 15}), 25.0f / 175);
  EXPECT_FLOAT_EQ(overlap({0, 0, 10, 10}, {0, 0, 10, 4}), 0.4f);
  EXPECT_EQ(overlap({0, 0, 10, 10}, {10, 0, 20, 10}), 0);  // they share an edge only
  EXPECT_EQ(overlap({0, 0, 1, 1}, {5, 5, 6, 6}), 0);
  EXPECT_EQ(overlap({3, 3, 3, 3}, {3, 3, 3, 3}), 0);
}

TEST(Box, ClippingKeepsThePartInside) {
  EXPECT_EQ(clipped({-5, 2, 30, 40}, {20, 25}), (Box{0, 2, 25, 20}));
  EXPECT_EQ(clipped({1, 2, 3, 4}, {20, 25}), (Box{1, 2, 3, 4}));
  EXPECT_EQ(area(clipped({30, 0, 40, 10}, {20, 25})), 0);
  EXPECT_EQ(area(clipped({-9, -9, -1, -1}, {20, 25})), 0);
}

TEST(Box, FlippingTwiceChangesNothing) {
  EXPECT_EQ(flipped({1, 2, 4, 7}, 10), (Box{6, 2, 9, 7}));
  EXPECT_EQ(flipped(flipped({1, 2, 4, 7}, 10), 10), (Box{1, 2, 4, 7}));
}

TEST(Box, ScalingIsByEachAxis) {
  EXPECT_EQ(scaled({1, 2, 4, 7}, 2, 0.5f), (Box{2, 1, 8, 3.5f}));
}

TEST(BoxCoding, CodeOfAShiftedAndGrownBox) {
  // Reference: centre (20, 30), 40 x 20. Box: centre (24, 28), 80 x 10.
  const BoxCode code = encode({-16, 23, 64, 33}, {0, 20, 40, 40});
  EXPECT_FLOAT_EQ(code.x, 1);   // 10 * 4 / 40
  EXPECT_FLOAT_EQ(code.y, -1);  // 10 * -2 / 20
  EXPECT_FLOAT_EQ(code.width, 5 * std::log(2.0f));
  EXPECT_FLOAT_EQ(code.height, -5 * std::log(2.0f));
  EXPECT_EQ(encode({3, 4, 8, 9}, {3, 4, 8, 9}), BoxCode{});
}

TEST(BoxCoding, ScalesAreParameters) {
  const CodingScales plain{1, 1, 1, 1};
  const BoxCode code = encode({-16, 23, 64, 33}, {0, 20, 40, 40}, plain);
  EXPECT_FLOAT_EQ(code.x, 0.1f);
  EXPECT_FLOAT_EQ(code.width, std::log(2.0f));
  EXPECT_FLOAT_EQ(decode(code, {0, 20, 40, 40}, plain).x1, 64);
}

TEST(BoxCoding, DecodingAppliesTheCode) {
  const Box box = decode({1, -1, 5 * std::log(2.0f), -5 * std::log(2.0f)}, {0, 20, 40, 40});
  EXPECT_NEAR(box.x0, -16, 1e-4);
  EXPECT_NEAR(box.y0, 23, 1e-4);
  EXPECT_NEAR(box.x1, 64, 1e-4);
  EXPECT_NEAR(box.y1, 33, 1e-4);
}

TEST(BoxCoding, DecodingInvertsEncoding) {
  const uint64_t seed = 20240701;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const auto random_box = [&random] {
    const float x = float(random.uniform(-50, 900)), y = float(random.uniform(-50, 500));
    return Box{x, y, x + float(random.uniform(9, 500)), y + float(random.uniform(9, 500))};
  };
  for (int round = 0; round < 1000; ++round) {
    const Box box = random_box(), reference = random_box();
    const Box again = decode(encode(box, reference), reference);
    EXPECT_NEAR(again.x0, box.x0, 0.01);
    EXPECT_NEAR(again.y0, box.y0, 0.01);
    EXPECT_NEAR(again.x1, box.x1, 0.01);
    EXPECT_NEAR(again.y1, box.y1, 0.01);
  }
}

TEST(BoxCoding, SizesGrowAtMostToTheLimit) {
  const Box box = decode({0, 0, 1e30f, 1e30f}, {0, 0, 16, 32});
  EXPECT_NEAR(box.width(), 1000, 0.1);
  EXPECT_NEAR(box.height(), 2000, 0.2);
  EXPECT_EQ(decode({0, 0, -1e30f, -1e30f}, {0, 0, 16, 32}), (Box{8, 16, 8, 16}));
}

TEST(BoxCoding, BoxesWithoutAreaHaveFiniteCodes) {
  for (const BoxCode& code :
       {encode({5, 5, 5, 5}, {0, 0, 10, 10}), encode({0, 0, 10, 10}, {5, 5, 5, 5})}) {
    EXPECT_TRUE(std::isfinite(code.x) && std::isfinite(code.y));
    EXPECT_TRUE(std::isfinite(code.width) && std::isfinite(code.height));
  }
}

}  // namespace
}  // namespace sact::detect
