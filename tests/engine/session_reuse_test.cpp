// What a session promises by itself, without LibTorch to compare with: results do not depend on
// what ran before, on what else is in the batch, or on the number of threads.
#include "engine/cpu/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "kernels/tested_tables.h"
#include "model/initial_weights.h"
#include "support/errors.h"

namespace sact::engine {
namespace {

constexpr float kHuge = 1e20f;

struct Kind {
  Halting halting;
  Stem stem;
  UnitKind unit;
  std::vector<int> units;
  int width, tile;
};

const Kind kKinds[] = {
    {Halting::kNone, Stem::kImageNet, UnitKind::kBottleneck, {2, 2, 1}, 16, 1},
    {Halting::kAct, Stem::kImageNet, UnitKind::kBottleneck, {3, 2}, 8, 1},
    {Halting::kSact, Stem::kImageNet, UnitKind::kBottleneck, {1, 3, 2}, 16, 1},
    {Halting::kSact, Stem::kImageNet, UnitKind::kBasic, {3, 2, 2}, 12, 1},
    {Halting::kSact, Stem::kSmall, UnitKind::kBottleneck, {3}, 5, 2},
    {Halting::kSact, Stem::kImageNet, UnitKind::kBottleneckV1, {2, 3, 2}, 16, 1},
    {Halting::kSact, Stem::kImageNet, UnitKind::kBasicV1, {3, 2, 2}, 12, 1},
};

ModelSpec spec_of(const Kind& kind) {
  ModelSpec spec;
  spec.halting = kind.halting;
  spec.stem = kind.stem;
  spec.unit = kind.unit;
  spec.units = kind.units;
  spec.width = kind.width;
  spec.tile = kind.tile;
  spec.classes = 11;
  return spec;
}

std::shared_ptr<const Plan> plan_of(const ModelSpec& spec, const kernels::Table& table,
                                    kernels::DataType type) {
  InitialWeights options;
  options.seed = 5;
  options.halting_bias = -1;  // so that positions differ in when they halt
  options.halting_scale = 0.3;
  std::map<std::string, std::vector<float>> values;
  for (Weight& weight : initial_weights(spec, options)) {
    values.emplace(weight.info.name, std::move(weight.values));
  }
  return std::make_shared<Plan>(
      spec, [&](const WeightInfo& info) { return values.at(info.name); }, table, type);
}

std::vector<float> noise(int images, Size size, uint64_t seed, float scale = 1) {
  Random random(seed);
  std::vector<float> planes(size_t(3 * images * size.positions()));
  for (float& value : planes) value = scale * float(random.normal());
  return planes;
}

/// Numbers of units for every position of a batch: all of them, or a random choice.
std::vector<std::vector<int32_t>> units_of(const ModelSpec& spec, int images, Size size, bool all) {
  Random random(77);
  std::vector<std::vector<int32_t>> units;
  for (int block = 0; block < spec.blocks(); ++block) {
    const int most = spec.units[size_t(block)];
    auto& rows = units.emplace_back(size_t(images * spec.block_size(block, size).positions()));
    for (int32_t& row : rows) row = all ? most : int32_t(1 + random.below(most));
  }
  return units;
}

/// Every bit of what a network said.
void expect_same(const std::vector<ImageResult>& found, const std::vector<ImageResult>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].logits, right[i].logits) << "image " << i;
    EXPECT_EQ(found[i].flops, right[i].flops) << "image " << i;
    for (size_t b = 0; b < right[i].blocks.size(); ++b) {
      EXPECT_EQ(found[i].blocks[b].units, right[i].blocks[b].units);
      EXPECT_EQ(found[i].blocks[b].ponder_cost.values, right[i].blocks[b].ponder_cost.values);
    }
  }
}

/// The same but for the order of sums, where the units are prescribed.
void expect_near(const ImageResult& found, const ImageResult& right) {
  EXPECT_EQ(found.flops, right.flops);
  for (size_t b = 0; b < right.blocks.size(); ++b) {
    EXPECT_EQ(found.blocks[b].units, right.blocks[b].units);
  }
  float largest = 0;
  for (float logit : right.logits) largest = std::max(largest, std::abs(logit));
  EXPECT_GT(largest, 0);
  for (size_t c = 0; c < right.logits.size(); ++c) {
    EXPECT_NEAR(found.logits[c], right.logits[c], 1e-4f * largest) << "class " << c;
  }
}

TEST(SessionReuse, MemoryOfEarlierRunsDoesNotShow) {
  const Size size{40, 56}, larger{75, 64};
  for (const Kind& kind : kKinds) {
    const ModelSpec spec = spec_of(kind);
    const auto planes = noise(2, size, 1);
    for (kernels::DataType type : {kernels::DataType::kFloat32, kernels::DataType::kBFloat16}) {
      const auto plan = plan_of(spec, *kernels::available_tables().back(), type);
      for (int threads : {1, 2}) {
        SCOPED_TRACE(fmt::format("kind {}, {} threads", &kind - kKinds, threads));
        const auto right = CpuSession(plan, threads).run(planes, 2, size);
        CpuSession session(plan, threads);
        // What all units leave everywhere would drown any result that it got into.
        for (const auto& [before, images] : {std::pair(larger, 3), std::pair(size, 2)}) {
          if (spec.adaptive()) {
            session.prescribe_units(units_of(spec, images, before, /*all=*/true));
          }
          session.run(noise(images, before, 2, kHuge), images, before);
          session.prescribe_units({});
          expect_same(session.run(planes, 2, size), right);
        }
      }
    }
  }
}

TEST(SessionReuse, MoreSizesThanAreKeptCanTakeTurns) {
  const auto plan =
      plan_of(spec_of(kKinds[2]), *kernels::available_tables().back(), kernels::DataType::kFloat32);
  CpuSession session(plan, 2);
  std::vector<std::vector<ImageResult>> right;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 11; ++i) {
      const Size size{32 + 7 * (i * 5 % 11), 32 + 3 * i};
      const auto found = session.run(noise(1, size, uint64_t(i)), 1, size);
      if (round == 0) {
        right.push_back(found);
      } else {
        expect_same(found, right[size_t(i)]);
      }
    }
  }
}

TEST(SessionReuse, TheNumberOfThreadsDoesNotMatter) {
  const Size size{72, 49};
  for (const Kind& kind : kKinds) {
    const ModelSpec spec = spec_of(kind);
    const auto plan =
        plan_of(spec, *kernels::available_tables().back(), kernels::DataType::kFloat32);
    const auto planes = noise(3, size, 4);
    std::vector<ImageResult> right;
    for (int threads : {1, 2, 3, 4, 7, 64}) {
      SCOPED_TRACE(fmt::format("kind {}, {} threads", &kind - kKinds, threads));
      CpuSession session(plan, threads);
      if (spec.adaptive()) session.prescribe_units(units_of(spec, 3, size, /*all=*/false));
      const auto found = session.run(planes, 3, size);
      if (threads == 1) right = found;
      for (size_t i = 0; i < right.size(); ++i) expect_near(found[i], right[i]);
    }
  }
}

/// On tile registers, which every machine emulates, threads share the 3x3 layer of a unit by
/// columns and what follows it by rows.
TEST(SessionReuse, ThreadsShareLayersOfAUnitInDifferentWays) {
  const Size size{96, 80};
  const Kind kind{Halting::kSact, Stem::kImageNet, UnitKind::kBottleneck, {1, 3}, 64, 1};
  const ModelSpec spec = spec_of(kind);
  const auto plan = plan_of(spec, *kernels::tested_tables().back(), kernels::DataType::kBFloat16);
  const auto planes = noise(1, size, 4);
  std::vector<ImageResult> right;
  for (int threads : {1, 2, 3, 4}) {
    SCOPED_TRACE(threads);
    CpuSession session(plan, threads);
    session.set_profiling(true);
    session.prescribe_units(units_of(spec, 1, size, /*all=*/false));
    const auto found = session.run(planes, 1, size);
    if (threads == 1) right = found;
    expect_near(found[0], right[0]);
    if (threads != 2) continue;
    std::map<std::string, Split> splits;
    for (const DescribedLayer& layer : described_layers(*plan, session.profile())) {
      splits[layer.name] = layer.profile.split;
    }
    EXPECT_EQ(splits.at("stages.1.blocks.1.conv2").column_parts, 2);
    EXPECT_EQ(splits.at("stages.1.blocks.1.conv3").row_parts, 2);
  }
}

TEST(SessionReuse, AnImageWhosePixelsCannotBeNumberedIsRefusedBeforeMemoryIsTaken) {
  const ModelSpec spec = spec_of(kKinds[0]);
  const std::string message = test::error_of([&] { Geometry(spec, 1, {32768, 32768}); });
  EXPECT_NE(message.find("32768x32768"), std::string::npos) << message;
  EXPECT_NE(message.find("1 image "), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::engine
