// Halting that is run otherwise than it was learned: shifted scores and limited work.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/plans.h"
#include "model/flops.h"
#include "support/errors.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;
using sact::test::tiny_spec;
using test::plan_of;
using test::random_weight_map;
using test::WeightMap;

void expect_same(const std::vector<ImageResult>& found, const std::vector<ImageResult>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].logits, right[i].logits);
    EXPECT_EQ(found[i].flops, right[i].flops);
    for (size_t b = 0; b < found[i].blocks.size(); ++b) {
      EXPECT_EQ(found[i].blocks[b].units, right[i].blocks[b].units);
      EXPECT_EQ(found[i].blocks[b].ponder_cost.values, right[i].blocks[b].ponder_cost.values);
    }
  }
}

double mean_flops(const std::vector<ImageResult>& results) {
  double sum = 0;
  for (const ImageResult& result : results) sum += double(result.flops);
  return sum / double(results.size());
}

struct Kind {
  Halting halting;
  UnitKind unit;
  int tile;
};
const Kind kKinds[] = {{Halting::kSact, UnitKind::kBottleneck, 1},
                       {Halting::kSact, UnitKind::kBasicV1, 3},
                       {Halting::kAct, UnitKind::kBottleneckV1, 1},
                       {Halting::kSact, UnitKind::kBasic, 1}};

ModelSpec spec_of(const Kind& kind) {
  ModelSpec spec = tiny_spec(kind.halting, {3, 4, 5});
  spec.unit = kind.unit;
  spec.tile = kind.tile;
  return spec;
}

constexpr Size kSize{70, 90};

TEST(HaltingShift, EqualsAnotherBiasOfAllScores) {
  for (const Kind& kind : kKinds) {
    const ModelSpec spec = spec_of(kind);
    WeightMap weights = random_weight_map(spec, 1);
    const auto plan = plan_of(spec, weights);
    for (auto& [name, values] : weights) {
      if (name.ends_with("halting.global.bias")) values[0] += 0.75f;
    }
    const std::vector<float> planes = random_planes(3, kSize, 2);
    const auto shifted = CpuSession(plan, 2, {.shift = 0.75}).run(planes, 3, kSize);
    const auto biased = CpuSession(plan_of(spec, weights), 2).run(planes, 3, kSize);
    const auto before = CpuSession(plan, 2).run(planes, 3, kSize);
    int64_t positions = 0, different = 0;
    for (size_t i = 0; i < shifted.size(); ++i) {
      for (size_t b = 0; b < shifted[i].blocks.size(); ++b) {
        const auto &found = shifted[i].blocks[b].units, &right = biased[i].blocks[b].units;
        for (size_t p = 0; p < found.size(); ++p) different += found[p] != right[p];
        positions += int64_t(found.size());
      }
    }
    EXPECT_LE(double(different), 0.002 * double(positions));
    EXPECT_NE(mean_flops(shifted), mean_flops(before)) << "a weak test";
  }
}

TEST(HaltingShift, FarOutNothingHaltsOrEverythingDoesAtOnce) {
  for (const Kind& kind : kKinds) {
    const ModelSpec spec = spec_of(kind);
    const WeightMap weights = random_weight_map(spec, 1);
    const std::vector<float> planes = random_planes(2, kSize, 2);
    const auto plan = plan_of(spec, weights);
    for (const auto& [shift, all] : {std::pair(500.0, false), std::pair(-500.0, true)}) {
      for (const ImageResult& result :
           CpuSession(plan, 2, {.shift = shift}).run(planes, 2, kSize)) {
        for (size_t b = 0; b < result.blocks.size(); ++b) {
          for (const int32_t units : result.blocks[b].units) {
            EXPECT_EQ(units, all ? spec.units[b] : 1);
          }
        }
      }
    }
    ModelSpec dense = spec;
    dense.halting = Halting::kNone;
    const auto unhalted = CpuSession(plan, 2, {.shift = -500}).run(planes, 2, kSize);
    const auto right = CpuSession(plan_of(dense, weights), 2).run(planes, 2, kSize);
    for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(unhalted[i].logits, right[i].logits);
  }
}

TEST(HardBudgetOfASession, NoImageTakesMoreAndOneOrMoreIsNoLimit) {
  const std::vector<float> planes = random_planes(3, kSize, 5);
  for (const Kind& kind : kKinds) {
    const ModelSpec spec = spec_of(kind);
    const auto plan = plan_of(spec, random_weight_map(spec, 4));
    const auto free = CpuSession(plan, 2, {.shift = -1}).run(planes, 3, kSize);
    expect_same(CpuSession(plan, 2, {-1, 1.0}).run(planes, 3, kSize), free);
    expect_same(CpuSession(plan, 2, {-1, 7.5}).run(planes, 3, kSize), free);
    const double dense = double(dense_flops(spec, kSize));
    const double least = HardBudget::smallest(spec, kSize);
    bool binds = false;
    for (const double part : {0.0, 0.1, 0.5, 0.9}) {
      const double share = least + part * (1 - least);
      CpuSession session(plan, 2, {-1, share});
      const auto limited = session.run(planes, 3, kSize);
      for (size_t i = 0; i < limited.size(); ++i) {
        EXPECT_LE(double(limited[i].flops), share * dense);
        EXPECT_TRUE(std::all_of(limited[i].logits.begin(), limited[i].logits.end(),
                                [](float logit) { return std::isfinite(logit); }));
        binds |= limited[i].flops < free[i].flops;
      }
      expect_same(session.run(planes, 3, kSize), limited);
    }
    EXPECT_TRUE(binds);
  }
}

/// Sums over positions are rounded otherwise, so that scores that are all but equal may change
/// places.
void expect_alike(const ImageResult& found, const ImageResult& right) {
  EXPECT_NEAR(double(found.flops), double(right.flops), 0.01 * double(right.flops));
  int64_t positions = 0, different = 0;
  for (size_t b = 0; b < right.blocks.size(); ++b) {
    const auto &units = found.blocks[b].units, &expected = right.blocks[b].units;
    for (size_t p = 0; p < units.size(); ++p) different += units[p] != expected[p];
    positions += int64_t(units.size());
  }
  EXPECT_LE(double(different), 0.005 * double(positions));
}

TEST(HardBudgetOfASession, ThreadsAndBatchesChangeNothing) {
  const ModelSpec spec = tiny_spec(Halting::kSact, {4, 4});
  const auto plan = plan_of(spec, random_weight_map(spec, 6));
  const std::vector<float> planes = random_planes(4, kSize, 7);
  const HaltingControl control{-1, 0.7};
  const auto right = CpuSession(plan, 1, control).run(planes, 4, kSize);
  for (const int threads : {2, 3}) {
    const auto found = CpuSession(plan, threads, control).run(planes, 4, kSize);
    for (size_t i = 0; i < right.size(); ++i) expect_alike(found[i], right[i]);
  }
  const size_t values = planes.size() / 4;
  CpuSession alone(plan, 1, control);
  for (size_t i = 0; i < 4; ++i) {
    const std::vector<float> image(planes.begin() + long(i * values),
                                   planes.begin() + long((i + 1) * values));
    expect_alike(alone.run(image, 1, kSize).front(), right[i]);
  }
}

TEST(HardBudgetOfASession, TooLittleIsRefusedAndTheSessionGoesOnToRefuse) {
  const ModelSpec spec = tiny_spec(Halting::kSact, {3, 4});
  CpuSession session(plan_of(spec, random_weight_map(spec, 8)), 2, {0, 0.05});
  const std::vector<float> planes = random_planes(1, kSize, 9);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_NE(sact::test::error_of([&] { session.run(planes, 1, kSize); }).find("too small"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sact::engine
