// The colour map is ordered, even, and can be shown on a screen.
#include "report/colormap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sact::report {
namespace {

TEST(Oklab, KnownColors) {
  const Oklab white = oklab_from_rgb({255, 255, 255});
  EXPECT_NEAR(white.lightness, 1, 1e-6);
  EXPECT_NEAR(white.a, 0, 1e-6);
  EXPECT_NEAR(white.b, 0, 1e-6);
  const Oklab red = oklab_from_rgb({255, 0, 0});
  EXPECT_NEAR(red.lightness, 0.62796, 1e-4);
  EXPECT_NEAR(red.a, 0.22486, 1e-4);
  EXPECT_NEAR(red.b, 0.12585, 1e-4);
}

TEST(Oklab, EightBitColorsComeBack) {
  for (int r = 0; r < 256; r += 15) {
    for (int g = 0; g < 256; g += 17) {
      for (int b = 0; b < 256; b += 51) {
        const Rgb color{uint8_t(r), uint8_t(g), uint8_t(b)};
        EXPECT_EQ(rgb_from_oklab(oklab_from_rgb(color)), color) << r << " " << g << " " << b;
      }
    }
  }
}

TEST(Colormap, RunsFromDarkBlueToLightYellow) {
  const Rgb low = sequential_color(0), high = sequential_color(1);
  EXPECT_GT(low.b, 3 * std::max<int>(low.r, low.g));
  EXPECT_LT(oklab_from_rgb(low).lightness, 0.25);
  EXPECT_GT(std::min(high.r, high.g), 220);
  EXPECT_LT(high.b, 160);
  EXPECT_GT(oklab_from_rgb(high).lightness, 0.9);
}

TEST(Colormap, StaysInsideTheGamut) {
  for (int i = 0; i <= 1000; ++i) {
    for (const double channel : linear_rgb_from_oklab(sequential_oklab(i / 1000.0))) {
      EXPECT_GE(channel, 0) << "t = " << i / 1000.0;
      EXPECT_LE(channel, 1) << "t = " << i / 1000.0;
    }
  }
}

TEST(Colormap, LightnessRisesLinearlyAfterRoundingToo) {
  const double low = sequential_oklab(0).lightness, high = sequential_oklab(1).lightness;
  double previous = -1;
  for (int i = 0; i <= 200; ++i) {
    const double lightness = oklab_from_rgb(sequential_color(i / 200.0)).lightness;
    EXPECT_GT(lightness, previous) << "step " << i;
    EXPECT_NEAR(lightness, low + (high - low) * i / 200.0, 0.004) << "step " << i;
    previous = lightness;
  }
}

TEST(Colormap, EqualStepsLookEquallyLarge) {
  double smallest = 1, largest = 0;
  for (int i = 0; i < 32; ++i) {
    const double step = distance(oklab_from_rgb(sequential_color(i / 32.0)),
                                 oklab_from_rgb(sequential_color((i + 1) / 32.0)));
    smallest = std::min(smallest, step);
    largest = std::max(largest, step);
  }
  EXPECT_GT(smallest, 0.02);
  EXPECT_LT(largest / smallest, 1.15);
}

TEST(Colormap, ClampsAndShowsMissingValuesInGrey) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sequential_color(-0.5), sequential_color(0));
  EXPECT_EQ(sequential_color(-infinity), sequential_color(0));
  EXPECT_EQ(sequential_color(7), sequential_color(1));
  EXPECT_EQ(sequential_color(infinity), sequential_color(1));
  EXPECT_EQ(sequential_color(std::nan("")), kMissingColor);
}

TEST(Colormap, NoColorLooksLikeTheMissingOne) {
  const Oklab missing = oklab_from_rgb(kMissingColor);
  for (int i = 0; i <= 100; ++i) EXPECT_GT(distance(missing, sequential_oklab(i / 100.0)), 0.1);
}

}  // namespace
}  // namespace sact::report
