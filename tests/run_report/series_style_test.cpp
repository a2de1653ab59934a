// Tests that curves can be told apart.
#include "report/series_style.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <tuple>

namespace sact::report {
namespace {

TEST(SeriesStyle, ColoursDifferWithoutSeeingRedAndGreen) {
  for (int i = 0; i < kSeriesColors; ++i) {
    for (int j = 0; j < i; ++j) {
      const Oklab a = oklab_from_rgb(series_style(i).color),
                  b = oklab_from_rgb(series_style(j).color);
      EXPECT_GT(std::hypot(a.lightness - b.lightness, a.b - b.b), 0.11) << i << " and " << j;
    }
  }
}

TEST(SeriesStyle, ColoursAreDarkEnoughForThinLinesOnWhite) {
  for (int i = 0; i < kSeriesColors; ++i) {
    EXPECT_LT(oklab_from_rgb(series_style(i).color).lightness, 0.78) << i;
  }
}

TEST(SeriesStyle, ColoursAreOnesThatScreensShow) {
  // A colour out of the gamut would have been clipped, away from the lightness that was asked for.
  EXPECT_NEAR(oklab_from_rgb(series_style(0).color).lightness, 0.50, 0.005);
  EXPECT_NEAR(oklab_from_rgb(series_style(1).color).lightness, 0.70, 0.005);
  EXPECT_NEAR(oklab_from_rgb(series_style(3).color).lightness, 0.54, 0.005);
  EXPECT_NEAR(oklab_from_rgb(series_style(7).color).lightness, 0.36, 0.005);
}

TEST(SeriesStyle, NoTwoOfFortyAreTheSame) {
  std::set<std::tuple<std::string, std::string, Marker>> seen;
  for (int i = 0; i < 40; ++i) {
    const SeriesStyle style = series_style(i);
    seen.emplace(hex_color(style.color), style.dash, style.marker);
  }
  EXPECT_EQ(seen.size(), 40u);
}

TEST(SeriesStyle, MarkersHaveDifferentOutlines) {
  std::set<std::string> paths;
  for (int i = 0; i < 6; ++i) paths.insert(marker_path(series_style(i).marker, 10, 20, 3));
  EXPECT_EQ(paths.size(), 6u);
  EXPECT_EQ(marker_path(Marker::kDiamond, 10, 20, 1), "M10 18.7L11.3 20L10 21.3L8.7 20z");
}

}  // namespace
}  // namespace sact::report
