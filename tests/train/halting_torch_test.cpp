// The differentiable halting rule against the rule itself, the closed form of its gradient, and
// finite differences.
#include "train/torch/halting_torch.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "halting/halting.h"

namespace sact::train {
namespace {

struct Tracked {
  torch::Tensor ponder_cost, units, distribution;  // the last [L, H, W]
};

/// `scores` [L - 1, H, W].
Tracked track(const torch::Tensor& scores, double epsilon) {
  HaltingTracker tracker(scores.new_empty({1, 1, scores.size(1), scores.size(2)}), epsilon);
  std::vector<torch::Tensor> weights;
  for (int64_t l = 0; l < scores.size(0); ++l) {
    weights.push_back(tracker.step(scores[l].view({1, 1, scores.size(1), scores.size(2)})));
  }
  weights.push_back(tracker.last_step());
  EXPECT_FALSE(tracker.any_active());
  return {tracker.ponder_cost()[0][0], tracker.units()[0][0], torch::cat(weights, 1)[0]};
}

torch::Tensor random_scores(Random& random, int64_t count, int64_t height, int64_t width) {
  torch::Tensor scores = torch::empty({count, height, width});
  float* data = scores.data_ptr<float>();
  for (int64_t i = 0; i < scores.numel(); ++i) data[i] = float(std::pow(random.uniform(), 2));
  return scores;
}

TEST(HaltingTorch, EqualsTheRuleAtEveryPosition) {
  const uint64_t seed = 31;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (double epsilon : {1e-6, 0.01, 0.3, 1 - 1e-6}) {
    for (int64_t count : {0, 1, 2, 7, 22}) {
      const int64_t height = 5, width = 9;
      const torch::Tensor scores = random_scores(random, count, height, width);
      const Tracked tracked = track(scores, epsilon);
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x) {
          std::vector<float> column;
          for (int64_t l = 0; l < count; ++l) column.push_back(scores[l][y][x].item<float>());
          const HaltingOutcome expected = halting_outcome(column, epsilon);
          EXPECT_EQ(tracked.units[y][x].item<float>(), float(expected.state.units));
          EXPECT_NEAR(tracked.ponder_cost[y][x].item<float>(), expected.state.ponder_cost, 1e-5);
          for (int64_t l = 0; l <= count; ++l) {
            EXPECT_EQ(tracked.distribution[l][y][x].item<float>(),
                      expected.distribution[size_t(l)]);
          }
        }
      }
    }
  }
}

torch::Tensor ponder_gradient(const std::vector<float>& values) {
  const torch::Tensor scores =
      torch::tensor(values).view({int64_t(values.size()), 1, 1}).requires_grad_();
  track(scores, 0.01).ponder_cost.sum().backward();
  return scores.grad().view({-1});
}

TEST(HaltingTorch, PonderCostGradientsOfTheSpecification) {
  EXPECT_TRUE(torch::equal(ponder_gradient({.01f, .50f, .60f, .70f}),
                           torch::tensor({-1.f, -1.f, 0.f, 0.f})));
  EXPECT_TRUE(torch::equal(ponder_gradient({.999f, .999f, .999f, .999f}), torch::zeros({4})));
  EXPECT_TRUE(torch::equal(ponder_gradient({.01f, .01f, .01f, .01f}), -torch::ones({4})));
}

TEST(HaltingTorch, OutputGradientsEqualTheClosedForm) {
  // output = sum_l p^l y^l with p^N = R = 1 - sum_{l<N} h^l, so d output / d h^l = y^l - y^N for
  // l < N and 0 otherwise.
  Random random(37);
  const int64_t count = 6, height = 4, width = 4;
  const torch::Tensor scores = random_scores(random, count, height, width).requires_grad_();
  const torch::Tensor values = torch::randn({count + 1, height, width});
  const Tracked tracked = track(scores, 0.01);
  (tracked.distribution * values).sum().backward();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t n = int64_t(tracked.units[y][x].item<float>());
      for (int64_t l = 1; l <= count; ++l) {
        const float expected =
            l < n ? (values[l - 1][y][x] - values[n - 1][y][x]).item<float>() : 0.0f;
        EXPECT_NEAR(scores.grad()[l - 1][y][x].item<float>(), expected, 1e-5);
      }
    }
  }
}

TEST(HaltingTorch, GradientsEqualFiniteDifferencesAwayFromTheThreshold) {
  // Scores whose partial sums stay clear of 1 - epsilon, so that N is locally constant.
  const torch::Tensor base = torch::tensor({.1f, .3f, .2f, .35f, .8f}).view({5, 1, 1});
  const torch::Tensor values = torch::tensor({1.f, -2.f, .5f, 3.f, -1.f, 2.f}).view({6, 1, 1});
  auto loss = [&](const torch::Tensor& scores) {
    const Tracked tracked = track(scores, 0.01);
    return (tracked.distribution * values).sum() + 0.7 * tracked.ponder_cost.sum();
  };
  const torch::Tensor scores = base.clone().requires_grad_();
  loss(scores).backward();
  constexpr double kStep = 1e-2;
  for (int64_t l = 0; l < 5; ++l) {
    torch::Tensor up = base.clone(), down = base.clone();
    up[l] += kStep;
    down[l] -= kStep;
    const double numeric = (loss(up) - loss(down)).item<float>() / (2 * kStep);
    EXPECT_NEAR(scores.grad()[l].item<float>(), numeric, 1e-3) << "score " << l + 1;
  }
}

TEST(HaltingTorch, TheSlopeFloorIsTheRulesAndLeavesScoresAsTheyAre) {
  Random random(43);
  const int64_t count = 400;
  torch::Tensor argument = torch::empty({count}), gradient = torch::empty({count});
  for (int64_t i = 0; i < count; ++i) {
    argument[i] = 24 * random.uniform() - 12;
    gradient[i] = 2 * random.uniform() - 1;
  }
  for (double floor : {0.0, 1e-3, 0.05, 0.25}) {
    argument = argument.detach().requires_grad_();
    const torch::Tensor h = halting_score(argument, 0, floor);
    EXPECT_TRUE(torch::equal(h, torch::sigmoid(argument)));
    h.backward(gradient);
    int floored = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float score = h[i].item<float>(), from = gradient[i].item<float>();
      const float slope = halting_slope(score, from, float(floor));
      EXPECT_NEAR(argument.grad()[i].item<float>(), from * slope, 1e-6) << score << " " << from;
      floored += slope != score * (1 - score);
    }
    EXPECT_EQ(floored > 0, floor > 0);
  }
}

TEST(HaltingTorch, OnlyGradientsThatPullAScoreBackAreKeptUp) {
  const float low = 1e-4f, high = 1 - 1e-4f, floor = 0.01f;
  EXPECT_EQ(halting_slope(low, -1, floor), floor);  // descent raises it
  EXPECT_LT(halting_slope(low, 1, floor), 1.1e-4f);
  EXPECT_EQ(halting_slope(high, 1, floor), floor);  // descent lowers it
  EXPECT_LT(halting_slope(high, -1, floor), 1.1e-4f);
  EXPECT_FLOAT_EQ(halting_slope(0.3f, -1, floor), 0.21f);  // steeper than the floor
}

TEST(HaltingTorch, SigmoidGradientsEqualFiniteDifferencesWithoutAFloor) {
  const torch::Tensor base = torch::tensor({-4.0, -1.0, 0.0, 0.5, 3.0}, torch::kFloat64);
  const torch::Tensor argument = base.clone().requires_grad_();
  halting_score(argument, 0, 0).sum().backward();
  constexpr double kStep = 1e-5;
  const torch::Tensor numeric =
      (halting_score(base + kStep, 0, 0) - halting_score(base - kStep, 0, 0)) / (2 * kStep);
  EXPECT_TRUE(torch::allclose(argument.grad(), numeric, 1e-6, 1e-8));
}

TEST(HaltingTorch, TheScoreFloorIsTheRulesAndGradientsPassThroughIt) {
  const torch::Tensor base = torch::linspace(-8, 8, 65);
  for (const float floor : {0.05f, 0.5f}) {
    for (const float slope_floor : {0.0f, 0.02f}) {
      const torch::Tensor argument = base.clone().requires_grad_();
      const torch::Tensor h = halting_score(argument, floor, slope_floor);
      (-h).sum().backward();
      const torch::Tensor s = torch::sigmoid(base);
      for (int64_t i = 0; i < base.numel(); ++i) {
        const float sigmoid = s[i].item<float>();
        const float score = sact::halting_score(sigmoid, floor);
        EXPECT_NEAR(h[i].item<float>(), score, 1e-6);
        EXPECT_EQ(h[i].item<float>() == 0, score == 0) << sigmoid;
        EXPECT_NEAR(argument.grad()[i].item<float>(),
                    -halting_slope(sigmoid, -1, slope_floor, floor), 1e-6);
      }
      EXPECT_EQ(h.min().item<float>(), 0);
    }
  }
}

TEST(HaltingTorch, TilesEqualThePlainVersion) {
  Random random(41);
  for (int tile : {1, 2, 3, 4, 50}) {
    for (const auto& [height, width] : {std::pair{7, 10}, {4, 4}, {1, 5}}) {
      const torch::Tensor scores = random_scores(random, 1, height, width);
      Map expected(height, width);
      std::copy_n(scores.data_ptr<float>(), scores.numel(), expected.values.begin());
      sact::average_tiles(expected, tile);
      const torch::Tensor found =
          average_tiles(scores.view({1, 1, height, width}), tile).contiguous();
      ASSERT_EQ(found.size(2), height);
      ASSERT_EQ(found.size(3), width);
      for (size_t i = 0; i < expected.values.size(); ++i) {
        EXPECT_NEAR(found.data_ptr<float>()[i], expected.values[i], 1e-6) << "tile " << tile;
      }
    }
  }
}

}  // namespace
}  // namespace sact::train
