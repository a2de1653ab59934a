// From photographs to network input.
#include "model/preprocess.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace sact
