#include "detect/targets.h"

#include <gtest/gtest.h>

#include <cmath>

#include <set>

#include "detect/detections.h"
#include "detect/proposals.h"

namespace sact::detect {
namespace {

TEST(Match, ByHand) {
  const std::vector<Object> objects = {
      {{0, 0, 10, 10}, 3, false}, {{20, 20, 40, 40}, 1, false}, {{100, 100, 200, 200}, 2, true}};
  const std::vector<Box> boxes = {
      {0, 0, 10, 10},        // the first object
      {0, 0, 10, 20},        // half of it
      {0, 0, 10, 30},        // a third
      {20, 20, 40, 39},      // nearly the second
      {50, 50, 60, 60},      // nothing
      {110, 110, 150, 150},  // inside of the crowd
      {80, 80, 110, 110},    // a ninth inside of the crowd
  };
  EXPECT_EQ(match(boxes, objects, {0.5f, 0.5f, false}),
            std::vector<int32_t>({0, 0, kBackground, 1, kBackground, kIgnored, kBackground}));
  EXPECT_EQ(match(boxes, objects, {0.7f, 0.3f, false}),
            std::vector<int32_t>({0, kIgnored, kIgnored, 1, kBackground, kIgnored, kBackground}));
}

TEST(Match, EveryObjectHasItsBestBox) {
  const std::vector<Object> objects = {{{0, 0, 10, 10}, 0, false}};
  const std::vector<Box> boxes = {{0, 0, 100, 10}, {0, 0, 50, 10}, {50, 0, 60, 10}};
  EXPECT_EQ(match(boxes, objects, {0.7f, 0.3f, false}),
            std::vector<int32_t>({kBackground, kBackground, kBackground}));
  EXPECT_EQ(match(boxes, objects, {0.7f, 0.3f, true}),
            std::vector<int32_t>({kBackground, 0, kBackground}));
  // An object that no box touches takes none.
  EXPECT_EQ(match(std::vector<Box>{{50, 50, 60, 60}}, objects, {0.7f, 0.3f, true}),
            std::vector<int32_t>({kBackground}));
  EXPECT_EQ(match(boxes, {}, {0.7f, 0.3f, true}), std::vector<int32_t>(3, kBackground));
}

TEST(DrawSample, KeepsItsSharesAndNeverTakesTheIgnored) {
  std::vector<int32_t> matches;
  for (int i = 0; i < 400; ++i) matches.push_back(i % 4 == 0 ? 0 : i % 4 == 1 ? kIgnored : -1);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const BoxSample sample = draw_sample(matches, 64, 0.25, Random(seed));
    EXPECT_EQ(sample.objects, 16);
    EXPECT_EQ(sample.chosen.size(), 64u);
    EXPECT_EQ(std::set<int64_t>(sample.chosen.begin(), sample.chosen.end()).size(), 64u);
    for (size_t i = 0; i < sample.chosen.size(); ++i) {
      EXPECT_EQ(matches[size_t(sample.chosen[i])], int64_t(i) < sample.objects ? 0 : kBackground);
    }
  }
  EXPECT_NE(draw_sample(matches, 64, 0.25, Random(1)).chosen,
            draw_sample(matches, 64, 0.25, Random(2)).chosen);
  // Few objects leave more room for background; few of anything give a small sample.
  const BoxSample few = draw_sample(std::vector<int32_t>{0, -1, -1, -2, -1}, 64, 0.25, Random(3));
  EXPECT_EQ(few.objects, 1);
  EXPECT_EQ(few.chosen.size(), 4u);
}

TEST(Propose, ByHand) {
  const std::vector<Box> anchors = {
      {0, 0, 20, 20}, {1, 0, 21, 20}, {50, 50, 70, 70}, {-30, 0, -10, 20}, {80, 80, 120, 120}};
  const std::vector<float> scores = {1, 2, 0.5f, 9, NAN};
  const std::vector<float> codes(20, 0.0f);
  // The fourth lies outside of the image, the last has no score, the first is under the second.
  const auto boxes = propose(anchors, scores, codes, {100, 100});
  EXPECT_EQ(boxes.boxes, std::vector<Box>({{1, 0, 21, 20}, {50, 50, 70, 70}}));
  EXPECT_EQ(boxes.objectness, std::vector<float>({2, 0.5f}));
  ProposalOptions one;
  one.kept = 1;
  EXPECT_EQ(propose(anchors, scores, codes, {100, 100}, one).boxes.size(), 1u);
  // x is coded in tenths of the width: 10 moves a box by its width.
  std::vector<float> moved(20, 0.0f);
  moved[4] = 10;
  EXPECT_EQ(propose(anchors, scores, moved, {100, 100}).boxes[0], (Box{21, 0, 41, 20}));
}

TEST(FindDetections, ByHand) {
  // Two classes: scores of background and classes, then their boxes.
  auto row = [](float background, float first, float second) {
    std::vector<float> row(11, 0.0f);
    row[0] = background, row[1] = first, row[2] = second;
    return row;
  };
  std::vector<float> outputs;
  for (const auto& values : {row(0, 3, 0), row(0, 2, 1), row(9, 0, 0)}) {
    outputs.insert(outputs.end(), values.begin(), values.end());
  }
  outputs[11 + 7] = 10;  // the second proposal's box of class 1 goes one width to the right
  const std::vector<Box> proposals = {{10, 10, 30, 30}, {11, 10, 31, 30}, {60, 60, 90, 90}};
  const auto found = find_detections(proposals, outputs, 2, {100, 100}, {0.1f, 10, 0.5f});
  // Of class 0 the first suppresses the second; of class 1 only the second is above 0.1.
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].label, 0);
  EXPECT_EQ(found[0].box, proposals[0]);
  EXPECT_NEAR(found[0].score, std::exp(3) / (std::exp(3) + 2), 1e-6);
  EXPECT_EQ(found[1].label, 1);
  EXPECT_EQ(found[1].box, (Box{31, 10, 51, 30}));
  EXPECT_NEAR(found[1].score, std::exp(1) / (std::exp(2) + std::exp(1) + 1), 1e-6);
  EXPECT_EQ(find_detections(proposals, outputs, 2, {100, 100}, {0.1f, 1, 0.5f}).size(), 1u);
  EXPECT_TRUE(find_detections({}, {}, 2, {100, 100}).empty());
}

}  // namespace
}  // namespace sact::detect
