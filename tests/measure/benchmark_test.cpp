// Measuring: quantiles, turns, and the plain and adaptive forms of a model.
#include "measure/benchmark.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/cpu/cpu_backend.h"
#include "measure/active_sets.h"
#include "sact/error.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact::measure {
namespace {

using test::random_planes;

TEST(Times, QuantilesLieBetweenTheSortedTimes) {
  const Times times{{5, 1, 4, 2, 3}};
  EXPECT_DOUBLE_EQ(times.median(), 3);
  EXPECT_DOUBLE_EQ(times.quantile(0), 1);
  EXPECT_DOUBLE_EQ(times.quantile(1), 5);
  EXPECT_DOUBLE_EQ(times.quantile(0.1), 1.4);
  EXPECT_DOUBLE_EQ(times.quantile(0.9), 4.6);
  EXPECT_DOUBLE_EQ(times.sum(), 15);
  EXPECT_DOUBLE_EQ((Times{{1, 2, 10, 4}}).median(), 3);
  EXPECT_DOUBLE_EQ((Times{{7}}).quantile(0.9), 7);
}

TEST(TakeTurns, EveryRoundRunsEachOnceAndWarmUpIsNotCounted) {
  std::string order;
  double clock = 0;
  const auto run_as = [&](char name) {
    return [&order, &clock, name] {
      order += name;
      return ++clock;
    };
  };
  std::vector<Candidate> candidates = {{"a", run_as('a')}, {"b", run_as('b')}, {"c", run_as('c')}};
  Rounds rounds;
  rounds.warm_up = 2;
  rounds.count = 3;
  std::vector<int> told;
  rounds.progress = [&](int round) { told.push_back(round); };
  take_turns(candidates, rounds);
  EXPECT_EQ(order, "abcabcabcabcabc");
  EXPECT_EQ(told, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(candidates[0].times.ms, (std::vector<double>{7, 10, 13}));
  EXPECT_EQ(candidates[2].times.ms, (std::vector<double>{9, 12, 15}));
}

TEST(TakeTurns, AnInterruptionEndsItBeforeTheNextRun) {
  int runs = 0;
  std::vector<Candidate> candidates = {{"a", [&] { return double(++runs); }}};
  Rounds rounds;
  rounds.interrupted = [&] { return runs == 4; };
  EXPECT_THROW(take_turns(candidates, rounds), Error);
  EXPECT_EQ(runs, 4);
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, double(std::abs(a[i] - b[i])));
  }
  return largest;
}

class Forms : public ::testing::Test {
 protected:
  ModelFile file(const ModelSpec& spec, const std::vector<Weight>& weights) {
    const auto path = directory_ / (std::to_string(++files_) + ".safetensors");
    write_model(path, spec, weights);
    return ModelFile(path);
  }

  std::unique_ptr<NetworkSession> session(const NetworkSource& source) const {
    return backend_->load(source, {})->session(2);
  }

  test::TemporaryDirectory directory_;
  int files_ = 0;
  const Size size_{64, 80};
  const std::vector<float> planes_ = random_planes(2, size_, 1);
  const std::unique_ptr<const Backend> backend_ = engine::make_cpu_backend();
};

TEST_F(Forms, APlainModelGetsHaltingAndWithAllPositionsActiveItsOwnLogits) {
  const ModelSpec spec = test::tiny_spec(Halting::kNone, {2, 3});
  const ModelFile plain = file(spec, test::random_weights(spec, 2));
  const NetworkSource dense = dense_network(plain), adaptive = adaptive_network(plain);
  EXPECT_EQ(dense.spec.halting, Halting::kNone);
  EXPECT_EQ(adaptive.spec.halting, Halting::kSact);
  const auto right = session(dense)->run(planes_, 2, size_);
  const auto prescribed = session(adaptive);
  prescribed->prescribe_units(units_of_density(adaptive.spec, 2, size_, 1, 3));
  const auto all = prescribed->run(planes_, 2, size_);
  prescribed->prescribe_units(units_of_density(adaptive.spec, 2, size_, 0.5, 3));
  const auto half = prescribed->run(planes_, 2, size_);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LT(largest_difference(all[i].logits, right[i].logits), 1e-4);
    EXPECT_GT(largest_difference(half[i].logits, right[i].logits), 1e-4);
    EXPECT_LT(half[i].flops, right[i].flops);
  }
}

TEST_F(Forms, TheDenseFormOfAnAdaptiveModelIsItsPlainNetwork) {
  const ModelSpec spec = test::tiny_spec(Halting::kSact, {2, 3});
  const std::vector<Weight> weights = test::random_weights(spec, 4);
  ModelSpec plain_spec = spec;
  plain_spec.halting = Halting::kNone;
  std::vector<Weight> plain_weights;
  for (const WeightInfo& info : weight_list(plain_spec)) {
    for (const Weight& weight : weights) {
      if (weight.info.name == info.name) plain_weights.push_back(weight);
    }
  }
  const ModelFile adaptive = file(spec, weights), plain = file(plain_spec, plain_weights);
  const auto found = session(dense_network(adaptive))->run(planes_, 2, size_);
  const auto expected = session(image_network_of(plain))->run(planes_, 2, size_);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].logits, expected[i].logits);
    EXPECT_EQ(found[i].flops, expected[i].flops);
  }
  // And its adaptive form is itself.
  EXPECT_EQ(session(adaptive_network(adaptive))->run(planes_, 2, size_)[0].logits,
            session(image_network_of(adaptive))->run(planes_, 2, size_)[0].logits);
}

}  // namespace
}  // namespace sact::measure
