// Tests of the synthetic data set: the same everywhere, balanced, tight boxes, visible objects.
#include "data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <thread>
#include <tuple>

#include "data/plan.h"
#include "support/errors.h"

namespace sact::data {
namespace {

using test::error_of;

SyntheticOptions sized(int width, int height, uint64_t seed = 0) {
  SyntheticOptions options;
  options.width = width;
  options.height = height;
  options.seed = seed;
  return options;
}

uint64_t checksum(const SyntheticSample& sample) {
  uint64_t sum = uint64_t(sample.label);
  for (uint8_t value : sample.image.rgb) sum = (sum ^ value) * 0x100000001b3ull;
  for (float side : {sample.box.x0, sample.box.y0, sample.box.x1, sample.box.y1}) {
    sum = (sum ^ uint64_t(side)) * 0x100000001b3ull;
  }
  return sum;
}

double intersection_over_union(const Box& a, const Box& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  auto area = [](const Box& box) { return double(box.x1 - box.x0) * (box.y1 - box.y0); };
  return width * height / (area(a) + area(b) - width * height);
}

TEST(Synthetic, SameFromAnyThreadAndInAnyOrder) {
  constexpr int kCount = 24;
  const SyntheticOptions options = sized(40, 32, 7);
  std::array<uint64_t, kCount> forwards, backwards;
  for (int i = 0; i < kCount; ++i) forwards[size_t(i)] = checksum(synthetic_sample(options, i));
  auto run = [&](int first) {
    for (int i = kCount - 1 - first; i >= 0; i -= 3) {
      backwards[size_t(i)] = checksum(synthetic_sample(options, i));
    }
  };
  std::thread one(run, 0), two(run, 1), three(run, 2);
  one.join();
  two.join();
  three.join();
  EXPECT_EQ(forwards, backwards);
}

TEST(Synthetic, EveryIndexAndSeedGivesItsOwnPicture) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {0, 1, 2, 1000000}) {
    for (int64_t index : {int64_t(0), int64_t(1), int64_t(10), int64_t(1) << 40}) {
      seen.insert(checksum(synthetic_sample(sized(32, 32, seed), index)));
    }
  }
  EXPECT_EQ(seen.size(), 16u);
}

TEST(Synthetic, TenConsecutiveIndicesHoldEveryClassOnce) {
  for (int64_t first : {int64_t(0), int64_t(3), int64_t(123457)}) {
    std::set<int> labels;
    for (int64_t i = first; i < first + 10; ++i) {
      labels.insert(synthetic_sample(sized(16, 16), i).label);
    }
    EXPECT_EQ(labels.size(), 10u) << "from " << first;
    EXPECT_EQ(*labels.begin(), 0);
    EXPECT_EQ(*labels.rbegin(), 9);
  }
}

TEST(Synthetic, SizesFromTinyToLongAndNarrow) {
  for (const auto& [width, height] :
       {std::pair(16, 16), std::pair(33, 47), std::pair(500, 20), std::pair(20, 500)}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    for (int64_t i = 0; i < 20; ++i) {
      const SyntheticSample sample = synthetic_sample(sized(width, height), i);
      EXPECT_EQ(sample.image.width, width);
      EXPECT_EQ(sample.image.height, height);
      EXPECT_EQ(sample.image.rgb.size(), size_t(width * height * 3));
    }
  }
  const SyntheticSample large = synthetic_sample(sized(1200, 700), 4);
  EXPECT_GE(large.box.x1 - large.box.x0, 100);
}

TEST(Synthetic, BoxesAreInsideThePictureAndTight) {
  for (const auto& [width, height] : {std::pair(64, 64), std::pair(40, 90), std::pair(16, 16)}) {
    const SyntheticOptions options = sized(width, height, 3);
    for (int64_t i = 0; i < 150; ++i) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << " index " << i);
      const Box box = synthetic_sample(options, i).box;
      const Map mask = synthetic_mask(options, i);
      ASSERT_TRUE(box.x0 >= 0 && box.y0 >= 0 && box.x1 <= float(width) && box.y1 <= float(height));
      ASSERT_TRUE(box.x0 < box.x1 && box.y0 < box.y1);
      // The strongest coverage along each side of the box, and anywhere outside.
      float left = 0, right = 0, top = 0, bottom = 0, outside = 0;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const float cover = mask.at(y, x);
          if (x == int(box.x0)) left = std::max(left, cover);
          if (x == int(box.x1) - 1) right = std::max(right, cover);
          if (y == int(box.y0)) top = std::max(top, cover);
          if (y == int(box.y1) - 1) bottom = std::max(bottom, cover);
          if (x < int(box.x0) || x >= int(box.x1) || y < int(box.y0) || y >= int(box.y1)) {
            outside = std::max(outside, cover);
          }
        }
      }
      EXPECT_GE(std::min({left, right, top, bottom}), 0.25f);
      EXPECT_LT(outside, 0.25f);
    }
  }
}

TEST(Synthetic, ObjectsAreWhole) {
  const SyntheticOptions options = sized(32, 24, 9);
  for (int64_t i = 0; i < 200; ++i) {
    const Map mask = synthetic_mask(options, i);
    const Shape shape = plan_shapes(options, i, 1, 1).front();
    Shape far_from_edges = shape;
    far_from_edges.x += 64;
    far_from_edges.y += 64;
    double area = 0, full = 0;
    for (float cover : mask.values) area += cover;
    for (float cover : shape_mask(far_from_edges, 160, 160).values) full += cover;
    EXPECT_NEAR(area, full, 0.01) << "index " << i << " is cut off";
  }
}

TEST(Synthetic, PlacesSizesAndAnglesSpreadOverTheirRanges) {
  const SyntheticOptions options = sized(100, 60);
  constexpr int kCount = 1000;
  std::array<int, 4> across{}, down{}, sizes{}, angles{};
  auto count = [](std::array<int, 4>& bins, double share) {
    ASSERT_TRUE(share >= 0 && share <= 1) << share;
    ++bins[std::min(size_t(share * 4), size_t(3))];
  };
  for (int64_t i = 0; i < kCount; ++i) {
    const Shape shape = plan_shapes(options, i, 1, 1).front();
    const double room_x = 100 - 2 * shape.radius, room_y = 60 - 2 * shape.radius;
    count(across, (shape.x - shape.radius) / room_x);
    count(down, (shape.y - shape.radius) / room_y);
    count(sizes, (2 * shape.radius / 60 - 0.25) / (0.55 - 0.25));
    count(angles, shape.angle / (2 * M_PI));
  }
  for (const auto& bins : {across, down, sizes, angles}) {
    for (int bin : bins) EXPECT_NEAR(bin, kCount / 4, kCount / 16);
  }
}

TEST(Synthetic, ObjectsStandOutFromWhatIsAroundThem) {
  SyntheticOptions options = sized(64, 64, 11);
  std::vector<double> contrasts;
  for (int64_t i = 0; i < 400; ++i) {
    const SyntheticSample sample = synthetic_sample(options, i);
    const Map mask = synthetic_mask(options, i);
    std::array<double, 3> object{}, around{};
    double object_count = 0, around_count = 0;
    for (int y = 0; y < 64; ++y) {
      for (int x = 0; x < 64; ++x) {
        const bool near = x >= sample.box.x0 - 3 && x < sample.box.x1 + 3 &&
                          y >= sample.box.y0 - 3 && y < sample.box.y1 + 3;
        const float cover = mask.at(y, x);
        if (!near || (cover > 0 && cover < 0.95f)) continue;
        for (size_t c = 0; c < 3; ++c) {
          (cover > 0 ? object : around)[c] += sample.image.pixel(x, y)[c] / 255.0;
        }
        (cover > 0 ? object_count : around_count) += 1;
      }
    }
    double squares = 0;
    for (size_t c = 0; c < 3; ++c) {
      squares += std::pow(object[c] / object_count - around[c] / around_count, 2);
    }
    contrasts.push_back(std::sqrt(squares));
  }
  std::sort(contrasts.begin(), contrasts.end());
  // Rims, slopes of light and blur take a part of the contrast that the colours were chosen for.
  EXPECT_GT(contrasts.front(), 0.6 * options.min_contrast);
  EXPECT_GT(contrasts[20], 0.85 * options.min_contrast) << "the faintest twentieth";
  EXPECT_GT(contrasts[380] / contrasts[20], 2) << "contrast varies";
}

TEST(Synthetic, NoiseIsAsStrongAsAskedFor) {
  SyntheticOptions clean = sized(32, 32), noisy = clean;
  clean.noise = 0;
  noisy.noise = 0.1;
  double strongest = 0, squares = 0;
  for (int64_t i = 0; i < 60; ++i) {
    const auto a = synthetic_sample(clean, i).image.rgb, b = synthetic_sample(noisy, i).image.rgb;
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k) sum += std::pow((b[k] - a[k]) / 255.0, 2);
    strongest = std::max(strongest, std::sqrt(sum / double(a.size())));
    squares += sum / double(a.size());
  }
  EXPECT_NEAR(strongest, 0.1, 0.03);
  EXPECT_GT(std::sqrt(squares / 60), 0.03);
}

TEST(Scene, HoldsTheAskedNumberOfObjectsHardlyOverlapping) {
  const SyntheticOptions options = sized(96, 64, 5);
  std::set<size_t> counts;
  std::set<int> later_labels;
  for (int64_t i = 0; i < 120; ++i) {
    const SyntheticScene scene = synthetic_scene(options, i, 2, 5);
    const auto masks = synthetic_masks(options, i, 2, 5);
    counts.insert(scene.objects.size());
    ASSERT_EQ(masks.size(), scene.objects.size());
    EXPECT_EQ(scene.objects[0].label, i % 10);
    for (size_t a = 0; a < masks.size(); ++a) {
      if (a > 0) later_labels.insert(scene.objects[a].label);
      for (size_t b = 0; b < a; ++b) {
        EXPECT_LT(intersection_over_union(scene.objects[a].box, scene.objects[b].box), 0.1);
        double shared = 0;
        for (size_t k = 0; k < masks[a].values.size(); ++k) {
          shared += std::min(masks[a].values[k], masks[b].values[k]);
        }
        EXPECT_LT(shared, 1.5) << "index " << i;
      }
    }
  }
  EXPECT_EQ(counts, (std::set<size_t>{2, 3, 4, 5}));
  EXPECT_EQ(later_labels.size(), 10u);
}

TEST(Scene, OfOneObjectIsASample) {
  const SyntheticScene scene = synthetic_scene(sized(48, 48), 13, 1, 1);
  const SyntheticSample sample = synthetic_sample(sized(48, 48), 13);
  ASSERT_EQ(scene.objects.size(), 1u);
  EXPECT_EQ(scene.image.rgb, sample.image.rgb);
  EXPECT_EQ(scene.objects[0].label, sample.label);
  EXPECT_EQ(scene.objects[0].box.x0, sample.box.x0);
}

// The number that is accepted must also be found room for, whatever the shape of the picture.
TEST(Scene, AsManyObjectsAsAreAllowedAlwaysFit) {
  const std::tuple<int, int, double> cases[] = {{64, 64, 0.25}, {64, 64, 0.1},  {16, 16, 0.25},
                                                {500, 20, 0.9}, {20, 500, 0.4}, {64, 48, 0.38}};
  for (const auto& [width, height, min_scale] : cases) {
    SCOPED_TRACE(testing::Message() << width << "x" << height << " min_scale " << min_scale);
    SyntheticOptions options = sized(width, height);
    options.min_scale = min_scale;
    options.max_scale = 0.9;
    const int most = max_scene_objects(options);
    EXPECT_GE(most, 1);
    for (int64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(plan_shapes(options, i, most, most).size(), size_t(most));
    }
    const std::string message = error_of([&] { synthetic_scene(options, 0, 1, most + 1); });
    EXPECT_NE(message.find("min_scale"), std::string::npos) << message;
  }
}

TEST(Synthetic, OptionsThatCannotWorkAreRefusedByName) {
  const auto refused = [](auto change, const char* name) {
    SyntheticOptions options;
    change(options);
    const std::string message = error_of([&] { synthetic_sample(options, 0); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
  };
  refused([](auto& o) { o.width = 15; }, "width");
  refused([](auto& o) { o.height = -3; }, "height");
  refused([](auto& o) { o.height = 1 << 30; }, "height");
  refused([](auto& o) { o.max_scale = 1.2; }, "max_scale");
  refused([](auto& o) { o.min_scale = 0.7; }, "min_scale");
  refused([](auto& o) { o.min_scale = 0.01; }, "min_scale");
  refused([](auto& o) { o.min_scale = std::numeric_limits<double>::quiet_NaN(); }, "min_scale");
  refused([](auto& o) { o.min_contrast = 0.9; }, "min_contrast");
  refused([](auto& o) { o.noise = -0.1; }, "noise");
  refused([](auto& o) { o.distractors = -1; }, "distractors");
  EXPECT_NE(error_of([] { synthetic_sample({}, -1); }).find("index"), std::string::npos);
  EXPECT_NE(error_of([] { synthetic_scene({}, 0, 3, 2); }).find("3 to 2"), std::string::npos);
  EXPECT_NE(error_of([] { synthetic_scene({}, 0, 0, 2); }).find("0 to 2"), std::string::npos);
}

}  // namespace
}  // namespace sact::data
