// Tests of textures and backgrounds: statistics that a photograph has and a flat colour has not.
#include "data/texture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/background.h"

namespace sact::data {
namespace {

double variance(const Map& map) {
  double sum = 0, squares = 0;
  for (float value : map.values) sum += value, squares += double(value) * value;
  const double count = double(map.values.size());
  return squares / count - (sum / count) * (sum / count);
}

// Mean squared difference of pixels `step` apart in a row.
double roughness(const Map& map, int step) {
  double sum = 0;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x + step < map.width; ++x) {
      sum += std::pow(map.at(y, x + step) - map.at(y, x), 2);
    }
  }
  return sum / (map.height * (map.width - step));
}

TEST(Texture, FractalNoiseIsStandardised) {
  Random random(1);
  const Map noise = fractal_noise(40, 70, 30, 1.0, 1, random);
  EXPECT_EQ(noise.height, 40);
  EXPECT_EQ(noise.width, 70);
  EXPECT_NEAR(variance(noise), 1, 1e-3);
}

TEST(Texture, FractalNoiseVariesMoreOverLongerDistances) {
  Random random(2);
  const Map noise = fractal_noise(256, 256, 128, 1.0, 1, random);
  for (int step = 1; step < 32; step *= 2) {
    EXPECT_GT(roughness(noise, 2 * step), 1.3 * roughness(noise, step)) << "at " << step;
  }
}

TEST(Texture, ASteeperSlopeIsSmoother) {
  Random one(3), other(3);
  const Map shallow = fractal_noise(128, 128, 64, 0.4, 1, one);
  const Map steep = fractal_noise(128, 128, 64, 1.6, 1, other);
  EXPECT_LT(roughness(steep, 1), 0.3 * roughness(shallow, 1));
}

TEST(Texture, EveryKindIsFiniteAndNotFlatAtAnySize) {
  using Kind = Texture (*)(int, int, Random&);
  const Kind kinds[] = {cloud_texture, stripe_texture, weave_texture,
                        brick_texture, pebble_texture, blob_texture};
  for (const auto& [height, width] : {std::pair(16, 16), std::pair(20, 300), std::pair(95, 33)}) {
    for (size_t kind = 0; kind < std::size(kinds); ++kind) {
      for (uint64_t seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(testing::Message()
                     << kind << " " << width << "x" << height << " seed " << seed);
        Random random(seed);
        const Texture texture = kinds[kind](height, width, random);
        auto in_range = [](const Map& map, float low, float high) {
          return std::all_of(map.values.begin(), map.values.end(),
                             [=](float value) { return value >= low && value <= high; });
        };
        EXPECT_TRUE(in_range(texture.tone, -5, 5));
        EXPECT_TRUE(in_range(texture.shade, 0, 3));
        EXPECT_GT(variance(texture.tone) + variance(texture.shade), 1e-4);
      }
    }
  }
}

TEST(Background, ColoursStayInRangeAndDifferAcrossThePicture) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Canvas canvas = random_background(48, 36, random);
    float low = 1, high = 0;
    for (const Colour& colour : canvas.pixels) {
      low = std::min({low, colour.r, colour.g, colour.b});
      high = std::max({high, colour.r, colour.g, colour.b});
    }
    EXPECT_GE(low, 0);
    EXPECT_LE(high, 1);
    EXPECT_GT(high - low, 0.05f);
  }
}

// The contrast promised for an object is divided by the light on it, so there must be some.
TEST(Background, LightNeverGoesOut) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const Light light = Light::random(random);
    for (float x : {-1.0f, 0.0f, 1.0f}) {
      for (float y : {-1.0f, 0.0f, 1.0f}) EXPECT_GT(light.at(x, y), 0.35f);
    }
  }
}

}  // namespace
}  // namespace sact::data
