// The halting rule: the worked examples of the specification, and its properties.
#include "halting/halting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace sact {
namespace {

constexpr double kEpsilon = 0.01;

void expect_outcome(const std::vector<float>& scores, double ponder_cost, int units,
                    const std::vector<float>& distribution) {
  const HaltingOutcome outcome = halting_outcome(scores, kEpsilon);
  EXPECT_NEAR(outcome.state.ponder_cost, ponder_cost, 1e-6);
  EXPECT_EQ(outcome.state.units, units);
  ASSERT_EQ(outcome.distribution.size(), distribution.size());
  for (size_t l = 0; l < distribution.size(); ++l) {
    EXPECT_NEAR(outcome.distribution[l], distribution[l], 1e-6) << "unit " << l + 1;
  }
}

TEST(Halting, WorkedExamples) {
  expect_outcome({.01f, .50f, .60f, .70f}, 3.49, 3, {.01f, .50f, .49f, 0, 0});
  expect_outcome({.999f, .999f, .999f, .999f}, 2.0, 1, {1, 0, 0, 0, 0});
  expect_outcome({.01f, .01f, .01f, .01f}, 5.96, 5, {.01f, .01f, .01f, .01f, .96f});
}

TEST(Halting, FigureTwoOfThePaper) {
  // R = 1 - h1 - h2 - h3 = 0.6, N = 4, rho = 4.6.
  expect_outcome({.1f, .1f, .2f, .8f}, 4.6, 4, {.1f, .1f, .2f, .6f, 0});
}

TEST(Halting, OneUnitTakesEverything) {
  expect_outcome({}, 2.0, 1, {1});
}

TEST(Halting, ThresholdItselfHalts) {
  // c < 1 - epsilon keeps a position active; equality does not.
  HaltingState below, at;
  halting_step(below, 0.4999f, 0.5f);
  halting_step(at, 0.5f, 0.5f);
  EXPECT_TRUE(below.active);
  EXPECT_FALSE(at.active);
}

TEST(Halting, ZerosThenOneCutsTheBlockAfterThatUnit) {
  for (size_t cut = 1; cut <= 5; ++cut) {
    std::vector<float> scores(5, 0.0f);
    scores[cut - 1] = 1;
    const HaltingOutcome outcome = halting_outcome(scores, kEpsilon);
    EXPECT_EQ(outcome.state.units, int(cut));
    for (size_t l = 0; l < outcome.distribution.size(); ++l) {
      EXPECT_EQ(outcome.distribution[l], l + 1 == cut ? 1.0f : 0.0f);
    }
  }
}

TEST(Halting, PropertiesHoldForRandomScores) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    const double epsilon = std::vector<double>{1e-6, 0.01, 0.5, 1 - 1e-6}[size_t(random.below(4))];
    std::vector<float> scores(size_t(random.below(12)));
    for (float& score : scores) score = float(std::pow(random.uniform(), 3));
    const HaltingOutcome outcome = halting_outcome(scores, epsilon);
    const double sum =
        std::accumulate(outcome.distribution.begin(), outcome.distribution.end(), 0.);
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_GE(outcome.state.ponder_cost, float(outcome.state.units) - 1e-5f);
    EXPECT_LE(outcome.state.ponder_cost, float(outcome.state.units) + 1 + 1e-5f);
    EXPECT_GE(outcome.state.units, 1);
    EXPECT_LE(outcome.state.units, int(scores.size()) + 1);
    for (size_t l = size_t(outcome.state.units); l < outcome.distribution.size(); ++l) {
      EXPECT_EQ(outcome.distribution[l], 0) << "no weight after halting";
    }
  }
}

TEST(Halting, EpsilonNearOneStopsAtTheFirstUnitAndNearZeroNeedsTheFullSum) {
  EXPECT_EQ(halting_outcome(std::vector<float>{1e-3f, 1e-3f}, 0.9999).state.units, 1);
  EXPECT_EQ(halting_outcome(std::vector<float>{0.999f, 1e-4f}, 1e-6).state.units, 3);
}

TEST(Halting, WithoutAFloorTheScoreIsTheSigmoidToTheBit) {
  Random random(17);
  for (int i = 0; i < 10000; ++i) {
    const float sigmoid = float(std::pow(random.uniform(), 8));
    EXPECT_EQ(halting_score(sigmoid, 0), sigmoid);
    EXPECT_EQ(halting_slope(sigmoid, 1, 0, 0), sigmoid * (1 - sigmoid));
  }
}

TEST(Halting, AFloorMakesLowScoresZeroAndLeavesOneAsItIs) {
  EXPECT_EQ(halting_score(0.047f, 0.05f), 0);
  EXPECT_EQ(halting_score(0.05f, 0.05f), 0);
  EXPECT_EQ(halting_score(1, 0.05f), 1);
  EXPECT_FLOAT_EQ(halting_score(0.75f, 0.5f), 0.5f);
  EXPECT_TRUE(std::isnan(halting_score(NAN, 0.05f)));
}

TEST(Halting, ScoresOfZeroGiveTheLastUnitAllTheWeight) {
  expect_outcome({0, 0, 0}, 5, 4, {0, 0, 0, 1});
}

TEST(Halting, GradientsPassStraightThroughTheFloor) {
  for (float sigmoid : {0.01f, 0.2f, 0.9f}) {
    EXPECT_FLOAT_EQ(halting_slope(sigmoid, 1, 0, 0.25f), sigmoid * (1 - sigmoid) / 0.75f);
  }
  // The floor of the slope is that of the sigmoid.
  EXPECT_FLOAT_EQ(halting_slope(1e-4f, -1, 0.01f, 0.25f), 0.01f / 0.75f);
}

TEST(Tiles, EveryPositionGetsTheMeanOfItsTile) {
  Map scores(3, 5);
  std::iota(scores.values.begin(), scores.values.end(), 0.0f);
  // 0  1 | 2  3 | 4
  // 5  6 | 7  8 | 9
  // ------------+--
  // 10 11|12 13 |14
  average_tiles(scores, 2);
  EXPECT_EQ(scores.values, (std::vector<float>{3, 3, 5, 5, 6.5f, 3, 3, 5, 5, 6.5f, 10.5f, 10.5f,
                                               12.5f, 12.5f, 14}));
}

TEST(Tiles, OneLeavesScoresAloneAndAHugeTileAveragesAll) {
  Map scores(2, 2);
  scores.values = {1, 2, 3, 6};
  average_tiles(scores, 1);
  EXPECT_EQ(scores.values, (std::vector<float>{1, 2, 3, 6}));
  average_tiles(scores, 100);
  EXPECT_EQ(scores.values, (std::vector<float>{3, 3, 3, 3}));
}

TEST(PonderCostMap, SumsBlocksAtTheResolutionOfTheFirst) {
  Map first(3, 3), second(2, 2);
  first.values = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  second.values = {10, 20, 30, 40};
  const std::vector<Map> blocks = {first, second};
  // Nearest neighbour from 2 to 3: positions 0 and 1 take 0, position 2 takes 1.
  EXPECT_EQ(total_ponder_cost(blocks).values,
            (std::vector<float>{10, 11, 22, 13, 14, 25, 36, 37, 48}));
}

}  // namespace
}  // namespace sact
