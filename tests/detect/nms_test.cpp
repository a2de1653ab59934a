// Tests of non-maximum suppression, by hand and against the definition.
#include "detect/nms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace sact::detect {
namespace {

using Numbers = std::vector<int32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Nms, TheBestOfOverlappingBoxesStays) {
  const std::vector<Box> boxes = {{0, 0, 10, 10}, {1, 0, 11, 10}, {20, 0, 30, 10}, {0, 0, 10, 9}};
  // 1 has 90 / 110 with 0; 3 has 90 / 100 with 0 and 81 / 109 with 1.
  EXPECT_EQ(nms(boxes, std::vector<float>{0.8f, 0.9f, 0.1f, 0.7f}, {0.6f, 300}), (Numbers{1, 2}));
  EXPECT_EQ(nms(boxes, std::vector<float>{0.8f, 0.9f, 0.1f, 0.7f}, {0.8f, 300}),
            (Numbers{1, 3, 2}));
  EXPECT_EQ(nms(boxes, std::vector<float>{0.9f, 0.8f, 0.1f, 0.7f}, {0.85f, 300}),
            (Numbers{0, 1, 2}));
}

TEST(Nms, ADroppedBoxDropsNobody) {
  // In a row, each overlaps the next only: the middle one goes, and the last stays for that.
  const std::vector<Box> boxes = {{0, 0, 10, 10}, {4, 0, 14, 10}, {8, 0, 18, 10}};
  EXPECT_EQ(nms(boxes, std::vector<float>{3, 2, 1}, {0.4f, 300}), (Numbers{0, 2}));
}

TEST(Nms, AnOverlapEqualToTheLimitIsAllowed) {
  const std::vector<Box> boxes = {{0, 0, 10, 10}, {0, 0, 10, 5}};
  EXPECT_EQ(nms(boxes, std::vector<float>{2, 1}, {0.5f, 300}), (Numbers{0, 1}));
  EXPECT_EQ(nms(boxes, std::vector<float>{2, 1}, {0.49f, 300}), (Numbers{0}));
}

TEST(Nms, EqualScoresKeepTheOrderOfTheInput) {
  const std::vector<Box> boxes = {{40, 0, 50, 10}, {0, 0, 10, 10}, {0, 0, 10, 10}, {20, 0, 30, 10}};
  EXPECT_EQ(nms(boxes, std::vector<float>(4, 0.5f)), (Numbers{0, 1, 3}));
  EXPECT_EQ(nms(boxes, std::vector<float>{-0.0f, 0.0f, 0.0f, -0.0f}), (Numbers{0, 1, 3}));
}

TEST(Nms, ScoresOfAnySignAndSizeAreOrdered) {
  std::vector<Box> boxes;
  const std::vector<float> scores = {-1, 2, 0, -kInfinity, 1e-40f, kNan, kInfinity, -2};
  for (size_t i = 0; i < scores.size(); ++i) boxes.push_back({float(i), 0, float(i + 1), 1});
  EXPECT_EQ(nms(boxes, scores), (Numbers{6, 1, 4, 2, 0, 7, 3}));
}

TEST(Nms, NoMoreThanAskedForAreKept) {
  std::vector<Box> boxes;
  for (int i = 0; i < 9; ++i) boxes.push_back({float(i), 0, float(i + 1), 1});
  const std::vector<float> scores = {1, 9, 2, 8, 3, 7, 4, 6, 5};
  EXPECT_EQ(nms(boxes, scores, {0.5f, 3}), (Numbers{1, 3, 5}));
  EXPECT_TRUE(nms(boxes, scores, {0.5f, 0}).empty());
  EXPECT_TRUE(nms({}, {}).empty());
}

TEST(Nms, ClassesDoNotDropEachOther) {
  const std::vector<Box> boxes(4, Box{0, 0, 10, 10});
  const std::vector<float> scores = {1, 3, 2, 4};
  EXPECT_EQ(nms_by_class(boxes, scores, Numbers{7, 0, 7, 0}), (Numbers{3, 2}));
  EXPECT_EQ(nms_by_class(boxes, scores, Numbers{0, 1, 2, 3}, {0.5f, 3}), (Numbers{3, 1, 2}));
}

/// The definition, word by word.
Numbers slow_nms(const std::vector<Box>& boxes, const std::vector<float>& scores,
                 const Numbers& classes, const NmsOptions& options) {
  Numbers order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return scores[size_t(a)] > scores[size_t(b)]; });
  Numbers kept;
  for (const int32_t i : order) {
    const bool dropped = std::any_of(kept.begin(), kept.end(), [&](int32_t k) {
      const Box &a = boxes[size_t(i)], &b = boxes[size_t(k)];
      const float common = intersection(a, b);
      return classes[size_t(i)] == classes[size_t(k)] &&
             common > options.max_overlap * (area(b) + area(a) - common);
    });
    if (!dropped && int64_t(kept.size()) < options.most_kept) kept.push_back(i);
  }
  return kept;
}

TEST(Nms, EqualsTheDefinitionOnRandomBoxes) {
  const uint64_t seed = 20240702;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    std::vector<Box> boxes;
    std::vector<float> scores;
    Numbers classes, one_class;
    const int64_t count = random.below(400);
    for (int64_t i = 0; i < count; ++i) {
      const float x = float(random.below(60)), y = float(random.below(60));
      // Whole numbers make ties of scores and of overlaps; some boxes have no area.
      boxes.push_back({x, y, x + float(random.below(30)), y + float(random.below(30))});
      scores.push_back(float(random.below(50)) / 50);
      classes.push_back(int32_t(random.below(4)));
      one_class.push_back(0);
    }
    const NmsOptions options{float(random.below(11)) / 10, random.below(200)};
    EXPECT_EQ(nms(boxes, scores, options), slow_nms(boxes, scores, one_class, options));
    EXPECT_EQ(nms_by_class(boxes, scores, classes, options),
              slow_nms(boxes, scores, classes, options));
  }
}

}  // namespace
}  // namespace sact::detect
