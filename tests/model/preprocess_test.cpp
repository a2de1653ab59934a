// From photographs to network input.
#include "model/preprocess.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>

#include "support/errors.h"

namespace sact {
namespace {

TEST(Preprocess, NetworkInputIsNormalisedByChannel) {
  InputSpec input;
  input.mean = {0.5, 0.25, 0};
  input.std = {0.5, 0.25, 2};
  io::Image image(1, 1);
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

TEST(Preprocess, ViewsAreTheCentralCropOrTheWholeImage) {
  const io::Image image(200, 100);
  InputSpec input;
  input.crop = 0.5;
  const View central = central_view(image, input, {64, 96});
  EXPECT_EQ(central.crop.left, 50);
  EXPECT_EQ(central.crop.bottom, 75);
  EXPECT_EQ(central.size, (Size{64, 96}));
  const View whole = whole_view(image, 64);
  EXPECT_EQ(whole.crop.right, 200);
  EXPECT_EQ(whole.size, (Size{64, 128}));
  test::error_of([&] { central_view(image, input, {64, 8}); });
  test::error_of([&] { whole_view(io::Image(1, 2000), 64); });
  const std::string message = test::error_of([&] { whole_view(io::Image(1, 1'000'000), 2148); });
  EXPECT_NE(message.find("an image of 1000000x1 with its shorter side scaled to 2148"),
            std::string::npos)
      << message;
}

TEST(Preprocess, ValuesThatAreNotFiniteAreFound) {
  EXPECT_TRUE(all_finite(std::vector<float>{-1, 0, 3e38f}));
  EXPECT_FALSE(all_finite(std::vector<float>{0, INFINITY}));
  EXPECT_FALSE(all_finite(std::vector<float>{NAN, 0}));
}

}  // namespace
}  // namespace sact
