// Maps take the right colours at the right places, and a photograph shows through them.
#include "report/overlay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/colormap.h"
#include "report/samples.h"
#include "support/image_samples.h"

namespace sact::report {
namespace {

using test::color_at;

TEST(MapImage, NearestDrawsCellsInTheColorsOfTheRange) {
  Map map(2, 2);
  map.values = {0, 1, 2, 4};
  const io::RgbImage image = map_image(map, 6, 4, {0, 4}, Interpolation::kNearest);
  ASSERT_EQ(image.width, 6);
  ASSERT_EQ(image.height, 4);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      EXPECT_EQ(color_at(image, x, y), sequential_color(map.at(y / 2, x / 3) / 4.0));
    }
  }
}

TEST(MapImage, BilinearMeetsCellCentresAndIsStraightBetween) {
  Map map(1, 2);
  map.values = {0, 1};
  const io::RgbImage image = map_image(map, 10, 1, {0, 1}, Interpolation::kBilinear);
  EXPECT_EQ(color_at(image, 0, 0), sequential_color(0));
  EXPECT_EQ(color_at(image, 2, 0), sequential_color(0));
  EXPECT_EQ(color_at(image, 4, 0), sequential_color(0.4));
  EXPECT_EQ(color_at(image, 5, 0), sequential_color(0.6));
  EXPECT_EQ(color_at(image, 9, 0), sequential_color(1));
}

TEST(MapImage, MissingValuesAreGreyAndDoNotSpread) {
  Map map(3, 3, 2);
  map.at(1, 1) = std::nanf("");
  map.at(0, 0) = -std::numeric_limits<float>::infinity();
  map.at(2, 2) = 3;
  for (const Interpolation how : {Interpolation::kNearest, Interpolation::kBilinear}) {
    const io::RgbImage image = map_image(map, 30, 30, finite_range(map), how);
    EXPECT_EQ(test::count_color(image, kMissingColor), 200);
    EXPECT_EQ(color_at(image, 15, 15), kMissingColor);
    EXPECT_EQ(color_at(image, 15, 9), sequential_color(0)) << "beside the missing one";
  }
}

TEST(MapImage, ConstantMapsHaveOneColor) {
  const Map map(5, 4, 23);
  const io::RgbImage image = map_image(map, 8, 8, finite_range(map), Interpolation::kBilinear);
  EXPECT_EQ(test::count_color(image, sequential_color(0.5)), 64);
}

TEST(MapImage, MapsMayBeLargerThanThePicture) {
  const Map map = test::ramp_map(300, 200, 0, 1);
  const io::RgbImage image = map_image(map, 3, 2, {0, 1}, Interpolation::kNearest);
  EXPECT_EQ(color_at(image, 0, 0), sequential_color(map.at(75, 33)));
  EXPECT_EQ(color_at(image, 2, 1), sequential_color(map.at(225, 166)));
}

TEST(Overlay, StrengthZeroIsThePhotoAndOneIsTheMap) {
  const io::RgbImage photo = test::noise_image(31, 17, 6);
  const Map map = test::ramp_map(4, 5, 1, 9);
  const ValueRange range = finite_range(map);
  EXPECT_EQ(overlay(photo, map, range, 0).rgb, photo.rgb);
  EXPECT_EQ(overlay(photo, map, range, -3).rgb, photo.rgb);
  EXPECT_EQ(overlay(photo, map, range, 1).rgb,
            map_image(map, 31, 17, range, Interpolation::kBilinear).rgb);
}

TEST(Overlay, KeepsTheContrastOfThePhoto) {
  io::RgbImage photo = test::plain_image(20, 1, {40, 40, 40});
  for (int x = 10; x < 20; ++x) std::fill_n(photo.pixel(x, 0), 3, uint8_t(220));
  const Map map(1, 1, 7);
  const io::RgbImage image = overlay(photo, map, finite_range(map), 0.5);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(image.pixel(15, 0)[c] - image.pixel(5, 0)[c], 90) << c;
}

TEST(Overlay, TakesTheOwnColorsOutOfThePhoto) {
  const Map map(1, 1, 7);
  const ValueRange range = finite_range(map);
  const io::RgbImage red = overlay(test::plain_image(1, 1, {255, 0, 0}), map, range, 0.9);
  const io::RgbImage blue = overlay(test::plain_image(1, 1, {0, 0, 255}), map, range, 0.9);
  EXPECT_NEAR(red.rgb[0], blue.rgb[0], 10);
  EXPECT_NEAR(red.rgb[2], blue.rgb[2], 10);
}

}  // namespace
}  // namespace sact::report
