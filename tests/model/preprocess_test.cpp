// From photographs to network input.
#include "model/preprocess.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/random.h"
#include "support/errors.h"

namespace sact {
namespace {

TEST(Preprocess, NetworkInputIsNormalisedByChannel) {
  InputSpec input;
  input.mean = {0.5, 0.25, 0};
  input.std = {0.5, 0.25, 2};
  io::RgbImage image(1, 1);
  image.rgb = {255, 0, 51};
  const auto planes = network_input(image, {0, 0, 1, 1}, {1, 1}, input);
  EXPECT_NEAR(planes[0], 1, 1e-6);
  EXPECT_NEAR(planes[1], -1, 1e-6);
  EXPECT_NEAR(planes[2], 0.1, 1e-6);
}

TEST(Preprocess, AspectIsKept) {
  EXPECT_EQ(size_keeping_aspect(1920, 1080, 180), (Size{180, 320}));
  EXPECT_EQ(size_keeping_aspect(100, 300, 50), (Size{150, 50}));
  EXPECT_EQ(size_keeping_aspect(1, 1'000'000, 2148), (Size{INT_MAX, 2148})) << "no overflow";
}

TEST(Preprocess, PlanesAndPixelsHoldTheSameNumbers) {
  Random random(1);
  io::RgbImage image(37, 23);
  for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
  const View view{{2, 1, 33, 22}, {16, 20}};
  const std::vector<float> pixels = network_pixels(image, view, {});
  const std::vector<float> planes = network_input(image, view.crop, view.size, {});
  ASSERT_EQ(pixels.size(), 3u * 16 * 20);
  ASSERT_EQ(planes.size(), pixels.size());
  for (size_t i = 0; i < 16 * 20; ++i) {
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(planes[c * 16 * 20 + i], pixels[i * 3 + c]);
  }
  std::vector<float> both = pixels;
  append_network_pixels(image, view, {}, both);
  EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), both.begin() + long(pixels.size())));
}

TEST(Preprocess, ViewsAreTheCentralCropOrTheWholeImage) {
  const io::RgbImage image(200, 100);
  InputSpec input;
  input.crop = 0.5;
  input.size = 48;
  const View central = view_of(image, input, {Framing::kCentralCrop, {64, 96}});
  EXPECT_EQ(central.crop.left, 50);
  EXPECT_EQ(central.crop.bottom, 75);
  EXPECT_EQ(central.size, (Size{64, 96}));
  EXPECT_EQ(view_of(image, input, {}).size, (Size{48, 48})) << "the model's own";
  const View stretched = view_of(image, input, {Framing::kStretched, {64, 64}});
  EXPECT_EQ(stretched.crop.right, 200);
  EXPECT_EQ(stretched.size, (Size{64, 64}));
  const View whole = view_of(image, input, {Framing::kKeepAspect, {64, 64}});
  EXPECT_EQ(whole.crop.right, 200);
  EXPECT_EQ(whole.size, (Size{64, 128}));
  EXPECT_EQ(view_of(image, input, {Framing::kKeepAspect}).size, (Size{48, 96}));
  test::error_of([&] { view_of(image, input, {Framing::kCentralCrop, {64, 8}}); });
  test::error_of([&] { view_of(io::RgbImage(1, 2000), input, {Framing::kKeepAspect, {64, 64}}); });
  const std::string message = test::error_of([&] {
    view_of(io::RgbImage(1, 1'000'000), input, {Framing::kKeepAspect, {2148, 2148}});
  });
  EXPECT_NE(message.find("an image of 1000000x1 with its shorter side scaled to 2148"),
            std::string::npos)
      << message;
}

TEST(Preprocess, ADetectorSeesAllOfAnImageAtItsSize) {
  DetectionSpec detection;
  detection.shorter_side = 64;
  const View view = detection_view(io::RgbImage(200, 100), detection);
  EXPECT_EQ(view.crop.right, 200);
  EXPECT_EQ(view.crop.bottom, 100);
  EXPECT_EQ(view.size, (Size{64, 128}));
}

TEST(Preprocess, ValuesThatAreNotFiniteAreFound) {
  EXPECT_TRUE(all_finite(std::vector<float>{-1, 0, 3e38f}));
  EXPECT_FALSE(all_finite(std::vector<float>{0, INFINITY}));
  EXPECT_FALSE(all_finite(std::vector<float>{NAN, 0}));
}

}  // namespace
}  // namespace sact
