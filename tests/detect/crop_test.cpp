// Tests of crops of features: by hand, and against a slow direct formula.
#include "detect/crop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace sact::detect {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Features {
  Size size;
  int channels;
  std::vector<float> values;

  Features(Size s, int c) : size(s), channels(c), values(size_t(s.positions() * c)) {}
  FeatureMap map() const { return {values.data(), size, channels}; }
  float at(int y, int x, int c) const {
    return values[size_t((int64_t(y) * size.width + x) * channels + c)];
  }
};

Features random_features(Size size, int channels, Random& random) {
  Features features(size, channels);
  for (float& value : features.values) value = float(random.normal());
  return features;
}

/// One sample by the textbook: the sum over all positions weighted by both distances.
double direct_sample(const Features& features, double y, double x, int channel) {
  if (!(y >= 0 && y <= features.size.height - 1 && x >= 0 && x <= features.size.width - 1))
    return 0;
  double sum = 0;
  for (int i = 0; i < features.size.height; ++i) {
    for (int j = 0; j < features.size.width; ++j) {
      sum += std::max(0.0, 1 - std::abs(y - i)) * std::max(0.0, 1 - std::abs(x - j)) *
             features.at(i, j, channel);
    }
  }
  return sum;
}

double direct_position(float first, float last, int positions, int index, int crop) {
  return double(first) * (positions - 1) +
         index * (double(last) - double(first)) * (positions - 1) / (crop - 1);
}

std::vector<float> direct_crop(const Features& features, const CropBox& box, int crop) {
  std::vector<float> out;
  for (int i = 0; i < crop; ++i) {
    for (int j = 0; j < crop; ++j) {
      for (int c = 0; c < features.channels; ++c) {
        out.push_back(float(
            direct_sample(features, direct_position(box.y1, box.y2, features.size.height, i, crop),
                          direct_position(box.x1, box.x2, features.size.width, j, crop), c)));
      }
    }
  }
  return out;
}

std::vector<float> pooled(const std::vector<float>& crop, int side, int pool, int channels) {
  const int cells = side / pool;
  std::vector<float> out(size_t(cells * cells * channels), -kInfinity);
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      for (int c = 0; c < channels; ++c) {
        float& cell = out[size_t((i / pool * cells + j / pool) * channels + c)];
        cell = std::max(cell, crop[size_t((i * side + j) * channels + c)]);
      }
    }
  }
  return out;
}

std::vector<float> fast_crop(const Features& features, const CropBox& box, int crop) {
  std::vector<float> out(size_t(crop * crop * features.channels), kNan);
  crop_and_resize(features.map(), box, crop, out.data());
  return out;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << "at " << i;
}

TEST(Crop, BoxesInPixelsBecomeSharesOfTheImage) {
  const CropBox box = crop_box({16, 30, 64, 60}, {60, 128});
  EXPECT_EQ(box.y1, 0.5f);
  EXPECT_EQ(box.x1, 0.125f);
  EXPECT_EQ(box.y2, 1);
  EXPECT_EQ(box.x2, 0.5f);
}

TEST(Crop, TheWholeMapAtItsOwnSizeIsTheMap) {
  Random random(1);
  const Features features = random_features({5, 5}, 3, random);
  EXPECT_EQ(fast_crop(features, {}, 5), features.values);
}

TEST(Crop, SamplesLieOnTheEdgesOfTheBox) {
  Features features({2, 3}, 1);
  features.values = {0, 1, 2, 10, 11, 12};
  // Rows at 0.25 and 0.75 of the way, columns at 0.5, 1 and 1.5.
  const auto out = fast_crop(features, {0.25f, 0.25f, 0.75f, 0.75f}, 3);
  expect_near(out, {3, 3.5f, 4, 5.5f, 6, 6.5f, 8, 8.5f, 9});
}

TEST(Crop, OutsideOfTheMapIsZeroAndNotTheNearestValue) {
  Features features({2, 2}, 1);
  features.values = {1, 1, 1, 1};
  EXPECT_EQ(fast_crop(features, {-0.5f, 0, 0.5f, 1}, 3),
            (std::vector<float>{0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(fast_crop(features, {0, 0.9f, 1, 1.1f}, 3),
            (std::vector<float>{1, 1, 0, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(fast_crop(features, {2, 2, 3, 3}, 2), (std::vector<float>(4, 0.0f)));
}

TEST(Crop, InvertedBoxesMirror) {
  Features features({1, 3}, 1);
  features.values = {1, 2, 3};
  EXPECT_EQ(fast_crop(features, {0, 1, 0, 0}, 3), (std::vector<float>{3, 2, 1, 3, 2, 1, 3, 2, 1}));
}

TEST(Crop, BoxesThatEndAtTheEdgeAreInsideAtEverySize) {
  for (int positions = 1; positions < 300; ++positions) {
    for (const int crop : {2, 7, 14, 28}) {
      EXPECT_TRUE(crop_sample(0.3f, 1, positions, crop - 1, crop).inside) << positions;
      EXPECT_EQ(crop_sample(0.3f, 1, positions, crop - 1, crop).high, positions - 1);
      EXPECT_TRUE(crop_sample(0, 0.7f, positions, 0, crop).inside);
    }
  }
}

TEST(Crop, BoxesThatAreNoNumbersAreOutside) {
  Random random(2);
  const Features features = random_features({4, 6}, 2, random);
  for (const float bad : {kNan, kInfinity, -kInfinity, 1e38f, -1e38f}) {
    const auto out = fast_crop(features, {bad, bad, bad, bad}, 4);
    EXPECT_EQ(out, std::vector<float>(out.size(), 0.0f)) << bad;
  }
}

class PooledCrops : public testing::TestWithParam<int> {};

TEST_P(PooledCrops, EqualTheDirectFormula) {
  const uint64_t seed = 20240703;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const int channels = GetParam();
  const Features features = random_features({6, 9}, channels, random);
  std::vector<CropBox> boxes = {
      {0, 0, 1, 1},                // all of it
      {-0.3f, -0.2f, 0.4f, 1.3f},  // beyond three borders
      {0.7f, 0.6f, 1.4f, 1.2f},
      {1.1f, 0.2f, 1.6f, 0.8f},  // wholly outside
      {-2, -2, 3, 3},            // all of it and much around it
      {0.5f, 0.5f, 0.5f, 0.5f},  // a point
      {0.2f, 0.3f, 0.2f, 0.9f},  // a line
      {1, 1, 1, 1},              // the last corner
      {0.8f, 0.1f, 0.2f, 0.7f},  // inverted
      {kNan, 0, 1, 1},
  };
  for (int i = 0; i < 20; ++i) {
    const auto edge = [&random] { return float(random.uniform(-0.2, 1.2)); };
    boxes.push_back({edge(), edge(), edge(), edge()});
  }
  for (const CropSettings settings : {CropSettings{}, CropSettings{6, 3}, CropSettings{4, 1}}) {
    const size_t values = size_t(settings.cells() * settings.cells() * channels);
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      std::vector<float> out(values * boxes.size(), kNan);
      crop_and_pool(features.map(), boxes, settings, team, out.data());
      for (size_t i = 0; i < boxes.size(); ++i) {
        SCOPED_TRACE(testing::Message() << "box " << i << ", crop " << settings.crop);
        const auto crop = direct_crop(features, boxes[i], settings.crop);
        expect_near({out.begin() + long(i * values), out.begin() + long((i + 1) * values)},
                    pooled(crop, settings.crop, settings.pool, channels));
        expect_near(fast_crop(features, boxes[i], settings.crop), crop);
      }
    }
  }
}

// Less and more than the channels that are done at a time, and not a multiple of a vector.
INSTANTIATE_TEST_SUITE_P(Channels, PooledCrops, testing::Values(1, 5, 64, 71));

TEST(Crop, MapsOfOnePositionWork) {
  Features features({1, 1}, 1);
  features.values = {-4};
  ThreadTeam team(2);
  std::vector<float> out(49);
  const std::vector<CropBox> boxes = {{0.2f, 0.2f, 0.9f, 0.9f}};
  crop_and_pool(features.map(), boxes, {}, team, out.data());
  EXPECT_EQ(out, std::vector<float>(49, -4.0f));
}

TEST(Crop, NoBoxesAreNoWork) {
  Features features({2, 2}, 1);
  ThreadTeam team(2);
  crop_and_pool(features.map(), {}, {}, team, nullptr);
}

}  // namespace
}  // namespace sact::detect
