// The limit to an image's FLOPs, held to what it promises on random networks and scores.
#include "model/hard_budget.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "halting/halting.h"
#include "support/errors.h"

namespace sact {
namespace {

ModelSpec random_spec(Random& random) {
  ModelSpec spec;
  spec.units.clear();
  for (int64_t b = 0; b < 1 + random.below(4); ++b) spec.units.push_back(1 + int(random.below(6)));
  spec.width = 2 + int(random.below(6));
  spec.stem = random.below(2) ? Stem::kSmall : Stem::kImageNet;
  spec.unit = std::vector{UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1,
                          UnitKind::kBasicV1}[size_t(random.below(4))];
  spec.classes = 5;
  spec.halting = random.below(4) ? Halting::kSact : Halting::kAct;
  spec.tile = random.below(3) ? 1 : 2 + int(random.below(4));
  spec.epsilon = 0.01;
  return spec;
}

Map random_scores(Random& random, const ModelSpec& spec, Size size, double power) {
  Map map(size.height, size.width);
  for (float& value : map.values) value = float(std::pow(random.uniform(), power));
  if (random.below(3) == 0) {  // many ties
    for (float& value : map.values) value = std::round(value * 4) / 8;
  }
  if (spec.halting == Halting::kAct) {
    std::fill(map.values.begin(), map.values.end(), map.values[0]);
  } else {
    average_tiles(map, spec.tile);
  }
  return map;
}

/// The units that positions get from these scores, [block][unit], with and without a budget.
std::vector<std::vector<int32_t>> units_of(const ModelSpec& spec, Size image,
                                           const std::vector<std::vector<Map>>& scores,
                                           const HardBudget* budget) {
  std::vector<std::vector<int32_t>> all;
  HardBudget::Account account;
  for (int block = 0; block < spec.blocks(); ++block) {
    const auto positions = size_t(spec.block_size(block, image).positions());
    std::vector<HaltingState> states(positions);
    for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
      const bool last = unit + 1 == spec.units[size_t(block)];
      std::vector<float> h(positions, 1.0f);
      if (!last) h = scores[size_t(block)][size_t(unit)].values;
      if (!last && budget) {
        std::vector<float> cumulative(positions, 1.0f);
        for (size_t p = 0; p < positions; ++p) {
          if (states[p].active) cumulative[p] = states[p].cumulative + h[p];
        }
        budget->limit(block, unit, cumulative, account);
        for (size_t p = 0; p < positions; ++p) {
          if (states[p].active && cumulative[p] == 1) h[p] = 1;
        }
      }
      for (size_t p = 0; p < positions; ++p) {
        if (states[p].active) halting_step(states[p], h[p], halting_threshold(spec.epsilon));
      }
    }
    all.emplace_back();
    for (const HaltingState& state : states) all.back().push_back(state.units);
  }
  return all;
}

int64_t flops_of(const ModelSpec& spec, Size image,
                 const std::vector<std::vector<int32_t>>& units) {
  std::vector<std::span<const int32_t>> spans(units.begin(), units.end());
  return adaptive_flops(spec, image, layer_list(spec, image), spans);
}

TEST(HardBudget, NoImageOfAnyNetworkTakesMoreAndMostGetNearToIt) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Random random(seed);
  int limited = 0, unlimited = 0;
  for (int i = 0; i < 300; ++i) {
    const ModelSpec spec = random_spec(random);
    const Size image{32 + int(random.below(40)), 32 + int(random.below(40))};
    std::vector<std::vector<Map>> scores;
    for (int block = 0; block < spec.blocks(); ++block) {
      scores.emplace_back();
      for (int unit = 0; unit + 1 < spec.units[size_t(block)]; ++unit) {
        scores.back().push_back(random_scores(random, spec, spec.block_size(block, image), 3));
      }
    }
    const double least = HardBudget::smallest(spec, image);
    const double share = random.uniform(least, std::max(1.5, least));
    const HardBudget budget(spec, image, share);
    EXPECT_EQ(budget.most_flops(), int64_t(share * double(dense_flops(spec, image))));
    const auto free = units_of(spec, image, scores, nullptr);
    const auto units = units_of(spec, image, scores, &budget);
    EXPECT_LE(flops_of(spec, image, units), budget.most_flops());
    units == free ? ++unlimited : ++limited;
    // With all units everywhere and all scores it would not take more.
    const double most = 1 + double(halting_flops(spec, image)) / double(dense_flops(spec, image));
    if (share > most) {
      EXPECT_EQ(units, free);
    }
    for (size_t b = 0; b < units.size(); ++b) {
      for (size_t p = 0; p < units[b].size(); ++p) EXPECT_LE(units[b][p], free[b][p]);
    }
  }
  EXPECT_GT(limited, 50);
  EXPECT_GT(unlimited, 50);
}

ModelSpec one_block(int units = 3) {
  ModelSpec spec;
  spec.stem = Stem::kSmall;
  spec.units = {units};
  spec.width = 4;
  spec.halting = Halting::kSact;
  return spec;
}

TEST(HardBudget, ThePositionsWithTheHighestScoresHaltAndAsFewAsWillDo) {
  Random random(3);
  const ModelSpec spec = one_block();
  const Size image{32, 40};
  const HardBudget budget(spec, image, 0.7);
  std::vector<float> cumulative(32 * 40);
  for (float& value : cumulative) value = float(random.below(50)) / 100;
  std::vector<float> after = cumulative;
  HardBudget::Account account;
  budget.limit(0, 0, after, account);
  // Every one in order, first the lowest scores and of equal ones the first.
  std::vector<int32_t> order(cumulative.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return cumulative[size_t(a)] < cumulative[size_t(b)];
  });
  std::vector<int32_t> units(cumulative.size(), 1);
  size_t kept = 0;
  for (; kept < order.size(); ++kept) {
    units[size_t(order[kept])] = 2;
    if (flops_of(spec, image, {units}) > budget.most_flops()) break;
  }
  ASSERT_GT(kept, 0u);
  ASSERT_LT(kept, order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto p = size_t(order[i]);
    EXPECT_EQ(after[p], i < kept ? cumulative[p] : 1) << i;
  }
}

TEST(HardBudget, TilesHaltAsAWholeAndImagesWithOneScoreLikewise) {
  Random random(4);
  ModelSpec spec = one_block();
  spec.tile = 5;
  const Size image{32, 37};
  Map scores(32, 37);
  for (float& value : scores.values) value = float(random.uniform(0, 0.9));
  average_tiles(scores, 5);
  HardBudget::Account account;
  HardBudget(spec, image, 0.6).limit(0, 0, scores.values, account);
  int halted = 0;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 37; ++x) {
      EXPECT_EQ(scores.at(y, x) == 1, scores.at(y / 5 * 5, x / 5 * 5) == 1);
      halted += scores.at(y, x) == 1;
    }
  }
  EXPECT_GT(halted, 0);
  EXPECT_LT(halted, 32 * 37);
  spec.halting = Halting::kAct;
  for (const double share : {0.6, 0.75, 0.99}) {
    std::vector<float> one(32 * 37, 0.5f);
    account = {};
    HardBudget(spec, image, share).limit(0, 0, one, account);
    EXPECT_EQ(one, std::vector<float>(32 * 37, share > 0.7 ? 0.5f : 1.0f)) << share;
  }
}

TEST(HardBudget, WhatABlockDoesNotUseIsLeftToLaterOnes) {
  ModelSpec spec = one_block();
  spec.units = {3, 3};
  const Size image{32, 32};
  const HardBudget budget(spec, image, 0.75);
  const auto kept_in_second = [&](float first_block) {
    std::vector<float> first(32 * 32, first_block), second(16 * 16, 0.1f);
    HardBudget::Account account;
    budget.limit(0, 0, first, account);
    budget.limit(1, 0, second, account);
    return std::count(second.begin(), second.end(), 0.1f);
  };
  EXPECT_GT(kept_in_second(1), kept_in_second(0));
  EXPECT_EQ(kept_in_second(1), 16 * 16);
}

TEST(HardBudget, LessThanTheMinimumIsRefusedWithTheSmallest) {
  const ModelSpec spec = one_block();
  const double least = HardBudget::smallest(spec, {32, 32});
  EXPECT_NO_THROW(HardBudget(spec, {32, 32}, least));
  const std::string message = test::error_of([&] { HardBudget(spec, {32, 32}, 0.01); });
  EXPECT_NE(message.find("a hard budget of 0.01 of the dense network's FLOPs is too small"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find(fmt::format("{:g} of them at 32x32", least)), std::string::npos)
      << message;
}

}  // namespace
}  // namespace sact
