// Normalising, blurring, the centre map and the search.
#include "saliency/postprocess.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/file.h"
#include "base/random.h"
#include "io/image.h"
#include "saliency/center_file.h"
#include "saliency/fixations.h"
#include "support/errors.h"
#include "support/image_samples.h"
#include "support/mat_samples.h"
#include "support/temporary.h"

namespace sact::saliency {
namespace {

using test::error_of;

Map random_map(int height, int width, uint64_t seed) {
  Random random(seed);
  Map map(height, width);
  for (float& value : map.values) value = float(random.uniform());
  return map;
}

int reflected(int i, int count) {
  while (i < 0 || i >= count) i = i < 0 ? -1 - i : 2 * count - 1 - i;
  return i;
}

/// The double sum over a Gaussian of two dimensions.
double direct_blur(const Map& map, double sigma, int y, int x) {
  const int radius = int(4 * sigma + 0.5);
  double sum = 0, weights = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const double weight = std::exp(-(dy * dy + dx * dx) / (2 * sigma * sigma));
      sum += weight * map.at(reflected(y + dy, map.height), reflected(x + dx, map.width));
      weights += weight;
    }
  }
  return sum / weights;
}

void expect_direct(const Map& blurred, const Map& map, double sigma) {
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      ASSERT_NEAR(blurred.at(y, x), direct_blur(map, sigma, y, x), 1e-5) << y << " " << x;
    }
  }
}

TEST(Blur, EqualsADirectGaussianSum) {
  for (const double sigma : {0.4, 1.0, 2.5, 7.0}) {  // 7: wider than the map
    const Map map = random_map(9, 13, 1);
    expect_direct(gaussian_blur(map, sigma), map, sigma);
  }
}

TEST(Blur, KeepsTheSumAndZeroChangesNothing) {
  const Map map = random_map(12, 20, 2);
  const auto total = [](const Map& values) {
    return std::accumulate(values.values.begin(), values.values.end(), 0.0);
  };
  EXPECT_NEAR(total(gaussian_blur(map, 6)), total(map), 1e-3);
  EXPECT_EQ(gaussian_blur(map, 0).values, map.values);
}

TEST(Density, IsTheBlurredFixationMap) {
  Map map(15, 22);
  map.at(0, 3) = map.at(7, 7) = map.at(14, 21) = 1;
  expect_direct(density(fixations_of(map, "map"), 2), map, 2);
}

TEST(Normalized, GoesFromZeroToOne) {
  Map map(1, 3);
  map.values = {2, 6, 3};
  EXPECT_EQ(normalized(map).values, std::vector<float>({0, 1, 0.25f}));
  EXPECT_EQ(normalized(Map(1, 3, 4.0f)).values, std::vector<float>({0, 0, 0}));
}

TEST(Center, IsHighestInTheMiddleAndAlikeOnAllSides) {
  const Map map = center_gaussian({5, 9}, 0.25);
  EXPECT_FLOAT_EQ(map.at(2, 4), 1);
  EXPECT_FLOAT_EQ(map.at(1, 1), map.at(3, 7));
  // One standard deviation from the middle of the width is a quarter of it.
  EXPECT_NEAR(center_gaussian({1, 1000}, 0.25).at(0, 750), std::exp(-0.5), 2e-3);
}

TEST(Center, FilesAreRead) {
  const test::TemporaryDirectory directory;
  Map map(2, 3);
  map.values = {0, 1, 0, 0, 2, 0};
  test::write_mat<double>(directory / "c.mat", "center", map);
  EXPECT_EQ(read_center(directory / "c.mat", "center").values, map.values);
  io::RgbImage image(2, 1);
  image.rgb = {255, 255, 255, 0, 0, 0};
  io::write_image(directory / "c.png", image);
  EXPECT_EQ(read_center(directory / "c.png", "center").values, std::vector<float>({1, 0}));
  map.values[2] = -1;
  test::write_mat<double>(directory / "n.mat", "center", map);
  EXPECT_NE(error_of([&] { read_center(directory / "n.mat", "center"); }).find("-1"),
            std::string::npos);
  test::write_mat<double>(directory / "k.mat", "center", Map(2, 2, 3.0f));
  EXPECT_NE(error_of([&] { read_center(directory / "k.mat", "center"); }).find("every number"),
            std::string::npos);
}

TEST(Center, TransparentPicturesAreRefused) {
  const test::TemporaryDirectory directory;
  const test::PngKind kind{.width = 2, .height = 1, .color_type = PNG_COLOR_TYPE_GRAY_ALPHA};
  write_file_atomically(directory / "c.png", test::make_png(kind, {255, 255, 0, 0}));
  EXPECT_NE(error_of([&] { read_center(directory / "c.png", "center"); }).find("transparent"),
            std::string::npos);
}

TEST(SaliencyMap, IsTheBlurredMapPlusTheWeightedCentre) {
  Map ponder(1, 3), center(1, 3);
  ponder.values = {5, 7, 9};
  center.values = {1, 10, 1};
  EXPECT_EQ(saliency_map(ponder, center, {0, 0.1}).values, std::vector<float>({0.1f, 1.5f, 1.1f}));
  const Map blurred = gaussian_blur(normalized(ponder), 2);
  const Map map = saliency_map(ponder, center, {2, 0.5});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(map.values[i], blurred.values[i] + 0.5f * center.values[i]);
  }
}

TEST(Softmax, SumsToOneAndSharpensWithTheTemperature) {
  Map map(1, 2);
  map.values = {0, 1};
  const Map shown = softmax(map, 0.2);
  EXPECT_NEAR(shown.values[0] + shown.values[1], 1, 1e-6);
  EXPECT_NEAR(shown.values[1] / shown.values[0], std::exp(5), 1e-2);
}

TEST(Grid, TheEndsAreThoseOfTheValuesAndNotOfTheList) {
  const std::vector<double> tried = {5, 1, 20, 3};
  EXPECT_EQ(place_of(5, tried), Place::kInside);
  EXPECT_EQ(place_of(3, tried), Place::kInside);
  EXPECT_EQ(place_of(1, tried), Place::kLowest);
  EXPECT_EQ(place_of(20, tried), Place::kHighest);
  EXPECT_EQ(place_of(0, std::vector<double>{2, 0, 1}), Place::kInside) << "nothing lies below 0";
  EXPECT_EQ(place_of(2, std::vector<double>{2}), Place::kInside);
  EXPECT_EQ(place_of(2, std::vector<double>{2, 2}), Place::kInside);
}

TEST(Grid, HasEveryPairAndTheBestIsTheFirstHighest) {
  const std::vector<double> blurs = {1, 2}, weights = {0.1, 0.2, 0.3};
  const auto all = grid(blurs, weights);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[4].blur, 2);
  EXPECT_EQ(all[4].center_weight, 0.2);
  EXPECT_EQ(best_of(std::vector<double>{0.5, 0.9, 0.2, 0.9}), 1u);
}

}  // namespace
}  // namespace sact::saliency
