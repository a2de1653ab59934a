// Cutting and resizing pictures.
#include "io/resize.h"

#include <gtest/gtest.h>

#include "support/image_samples.h"

namespace sact::io {
namespace {

RgbImage grey_image(int width, int height, const std::vector<int>& values) {
  RgbImage image(width, height);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = uint8_t(values[i]);
  }
  return image;
}

TEST(Resize, CentralCropIsCentredAndNeverEmpty) {
  const Crop crop = central_crop(RgbImage(224, 224), 0.875);
  EXPECT_EQ(crop.left, 14);
  EXPECT_EQ(crop.right, 210);
  const Crop wide = central_crop(RgbImage(1000, 500), 0.875);
  EXPECT_EQ(wide.width(), 875);
  EXPECT_EQ(wide.height(), 438);
  const Crop tiny = central_crop(RgbImage(1, 1), 0.1);
  EXPECT_EQ(tiny.width(), 1);
  EXPECT_EQ(tiny.height(), 1);
}

TEST(Resize, SameSizeIsTheSamePicture) {
  const RgbImage image = grey_image(3, 2, {10, 20, 30, 40, 50, 60});
  const auto planes = resize(image, {0, 0, 3, 2}, {2, 3});
  for (size_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(planes[i], float(10 * (i + 1)));
}

TEST(Resize, EnlargingInterpolatesBetweenPixelCentres) {
  // 2 -> 4 pixels: centres at 0.25, 0.75, 1.25, 1.75 of the source; the border is held.
  const auto planes = resize(grey_image(2, 1, {0, 100}), {0, 0, 2, 1}, {1, 4});
  const std::vector<float> expected = {0, 25, 75, 100};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(planes[i], expected[i], 1e-4);
}

TEST(Resize, ShrinkingUsesEveryPixel) {
  // 4 -> 2: triangles of half-width 2 around 1 and 3: weights 1/7 (3 3 1) and (1 3 3).
  const auto planes = resize(grey_image(4, 1, {7, 14, 21, 28}), {0, 0, 4, 1}, {1, 2});
  EXPECT_NEAR(planes[0], (3 * 7 + 3 * 14 + 1 * 21) / 7.0, 1e-4);
  EXPECT_NEAR(planes[1], (1 * 14 + 3 * 21 + 3 * 28) / 7.0, 1e-4);
}

TEST(Resize, ConstantStaysConstantAtAnySize) {
  const RgbImage image = grey_image(13, 7, std::vector<int>(91, 77));
  for (const Size size : {Size{1, 1}, {3, 50}, {40, 5}, {7, 13}}) {
    for (float value : resize(image, {0, 0, 13, 7}, size)) EXPECT_NEAR(value, 77, 1e-3);
  }
}

TEST(Resize, OnlyTheCropIsSeen) {
  RgbImage image = grey_image(6, 6, std::vector<int>(36, 255));
  for (int y = 2; y < 4; ++y) {
    for (int x = 2; x < 4; ++x) std::fill_n(image.pixel(x, y), 3, uint8_t{50});
  }
  for (float value : resize(image, {2, 2, 4, 4}, {8, 8})) EXPECT_NEAR(value, 50, 1e-3);
  const RgbImage part = cut(image, {2, 2, 4, 4});
  EXPECT_EQ(part.rgb, std::vector<uint8_t>(12, 50));
}

TEST(Resized, SameSizeIsTheSameImage) {
  const RgbImage image = test::noise_image(7, 5, 1);
  EXPECT_EQ(resized(image, {5, 7}).rgb, image.rgb);
}

TEST(Resized, RoundsAndKeepsColoursApart) {
  RgbImage image(2, 1);
  image.pixel(1, 0)[0] = 201;
  image.pixel(0, 0)[2] = 255;
  const RgbImage large = resized(image, {1, 8});
  const int red[] = {0, 0, 25, 75, 126, 176, 201, 201};
  for (int x = 0; x < 8; ++x) EXPECT_EQ(large.pixel(x, 0)[0], red[x]) << x;
  EXPECT_EQ(large.pixel(0, 0)[2], 255);
  EXPECT_EQ(large.pixel(7, 0)[2], 0);
}

TEST(Resized, RampStaysWhereItIs) {
  RgbImage image(200, 120);
  for (int y = 0; y < 120; ++y) {
    for (int x = 0; x < 200; ++x) {
      image.pixel(x, y)[0] = uint8_t(x);
      image.pixel(x, y)[2] = uint8_t(2 * y);
    }
  }
  const RgbImage small = resized(image, {23, 37});
  for (int y = 3; y < 20; ++y) {
    for (int x = 3; x < 34; ++x) {
      EXPECT_NEAR(small.pixel(x, y)[0], (x + 0.5) * 200 / 37 - 0.5, 1);
      EXPECT_NEAR(small.pixel(x, y)[2], 2 * ((y + 0.5) * 120 / 23 - 0.5), 1);
    }
  }
}

TEST(Resized, ExtremeShapesWork) {
  const std::vector<int> values(5000, 170);
  EXPECT_EQ(resized(grey_image(5000, 1, values), {300, 3}).rgb, std::vector<uint8_t>(2700, 170));
  EXPECT_EQ(resized(grey_image(1, 1, {170}), {50, 40}).rgb, std::vector<uint8_t>(6000, 170));
}

TEST(Resize, MapsAreResizedLikePictures) {
  const RgbImage image = grey_image(4, 3, {7, 14, 21, 28, 90, 4, 250, 3, 17, 60, 61, 200});
  Map map(3, 4);
  for (size_t i = 0; i < map.values.size(); ++i) map.values[i] = float(image.rgb[3 * i]);
  for (const Size size : {Size{2, 3}, Size{9, 11}, Size{3, 4}, Size{1, 30}}) {
    const std::vector<float> planes = resize(image, whole(image), size);
    const Map out = resized(map, size);
    ASSERT_EQ(out.values.size(), size_t(size.positions()));
    for (size_t i = 0; i < out.values.size(); ++i) EXPECT_NEAR(out.values[i], planes[i], 1e-3);
  }
}

}  // namespace
}  // namespace sact::io
