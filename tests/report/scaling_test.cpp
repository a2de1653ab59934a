// Scaling keeps brightness where it is, and nearest scaling keeps values.
#include "report/scaling.h"

#include <gtest/gtest.h>

#include "report/pictures.h"

namespace sact::report {
namespace {

using test::color_at;

TEST(Scaling, SameSizeIsTheSameImage) {
  const io::Image image = test::random_image(7, 5, 1);
  EXPECT_EQ(scaled(image, 7, 5, Scaling::kSmooth).rgb, image.rgb);
  EXPECT_EQ(scaled(image, 7, 5, Scaling::kNearest).rgb, image.rgb);
}

TEST(Scaling, ShrinkingAveragesEveryPixel) {
  io::Image image(64, 1);
  for (int x = 0; x < 64; ++x) image.pixel(x, 0)[1] = x % 2 ? 200 : 0;
  const io::Image small = scaled(image, 4, 1, Scaling::kSmooth);
  for (int x = 0; x < 4; ++x) EXPECT_NEAR(small.pixel(x, 0)[1], 100, 3) << x;
}

TEST(Scaling, EnlargingInterpolatesBetweenPixelCentres) {
  io::Image image(2, 1);
  image.pixel(1, 0)[0] = 200;
  const io::Image large = scaled(image, 8, 1, Scaling::kSmooth);
  const int expected[] = {0, 0, 25, 75, 125, 175, 200, 200};
  for (int x = 0; x < 8; ++x) EXPECT_EQ(large.pixel(x, 0)[0], expected[x]) << x;
}

TEST(Scaling, RampStaysWhereItIs) {
  io::Image image(200, 120);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 200; ++x) {
      image.pixel(x, y)[0] = uint8_t(x);
      image.pixel(x, y)[2] = uint8_t(2 * y);
    }
  }
  const io::Image small = scaled(image, 37, 23, Scaling::kSmooth);
  for (int y = 3; y < 20; ++y) {
    for (int x = 3; x < 34; ++x) {
      EXPECT_NEAR(small.pixel(x, y)[0], (x + 0.5) * 200 / 37 - 0.5, 1);
      EXPECT_NEAR(small.pixel(x, y)[2], 2 * ((y + 0.5) * 120 / 23 - 0.5), 1);
    }
  }
}

TEST(Scaling, NearestMakesNoNewColorsAndEqualCells) {
  const io::Image image = test::random_image(3, 2, 4);
  const io::Image large = scaled(image, 12, 10, Scaling::kNearest);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 12; ++x) {
      EXPECT_EQ(color_at(large, x, y), color_at(image, x / 4, y / 5)) << x << " " << y;
    }
  }
}

TEST(Scaling, ExtremeShapesWork) {
  const Rgb color{9, 80, 170};
  for (const Scaling scaling : {Scaling::kSmooth, Scaling::kNearest}) {
    const io::Image flat = scaled(test::plain_image(5000, 1, color), 3, 300, scaling);
    EXPECT_EQ(test::count_color(flat, color), 900);
    const io::Image dot = scaled(test::plain_image(1, 1, color), 40, 50, scaling);
    EXPECT_EQ(test::count_color(dot, color), 2000);
  }
}

}  // namespace
}  // namespace sact::report
