// Sessions: that they share plans, keep nothing of one run for the next, and treat batches as
// images.
#include "engine/cpu/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

#include "engine/plans.h"
#include "kernels/tested_tables.h"
#include "support/errors.h"
#include "support/sanitizers.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;
using sact::test::tiny_spec;
using test::plan_of;
using test::random_plan;

/// Every bit of what a network said.
void expect_same(const ImageResult& found, const ImageResult& right) {
  EXPECT_EQ(found.logits, right.logits);
  EXPECT_EQ(found.flops, right.flops);
  ASSERT_EQ(found.blocks.size(), right.blocks.size());
  for (size_t b = 0; b < found.blocks.size(); ++b) {
    EXPECT_EQ(found.blocks[b].units, right.blocks[b].units);
    EXPECT_EQ(found.blocks[b].ponder_cost.values, right.blocks[b].ponder_cost.values);
  }
}

void expect_same(const std::vector<ImageResult>& found, const std::vector<ImageResult>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (size_t i = 0; i < found.size(); ++i) expect_same(found[i], right[i]);
}

double relative_error(const std::vector<float>& found, const std::vector<float>& right) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - double(right[i]), 2);
    norm += std::pow(double(right[i]), 2);
  }
  return std::sqrt(error / norm);
}

/// The halting scores become constants, of a sigmoid of `bias`.
void set_scores(test::WeightMap& weights, float bias) {
  for (auto& [name, values] : weights) {
    if (name.find("halting.") == name.npos || name.find("norm") != name.npos) continue;
    const bool is_bias = name.find("global.bias") != name.npos;
    std::fill(values.begin(), values.end(), is_bias ? bias : 0.0f);
  }
}

TEST(Session, WithAFloorUnderLowScoresItIsThePlainNetworkToTheBit) {
  const Size size{70, 90};
  const std::vector<float> planes = random_planes(3, size, 21);
  for (const Halting halting : {Halting::kAct, Halting::kSact}) {
    for (const UnitKind unit :
         {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
      ModelSpec spec = tiny_spec(halting, {3, 4, 1, 2});
      spec.unit = unit;
      spec.width = 5;
      spec.score_floor = 0.05;
      ModelSpec dense = spec;
      dense.halting = Halting::kNone;
      test::WeightMap weights = test::random_weight_map(spec, 20);
      set_scores(weights, -3);
      for (const kernels::Table* table : kernels::available_tables()) {
        for (const auto type : {kernels::DataType::kFloat32, kernels::DataType::kBFloat16}) {
          SCOPED_TRACE(std::string(table->name) + " " + std::string(name_of(unit)));
          CpuSession adaptive(plan_of(spec, weights, type, *table), 2);
          CpuSession plain(plan_of(dense, weights, type, *table), 2);
          const auto found = adaptive.run(planes, 3, size), right = plain.run(planes, 3, size);
          for (size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].logits, right[i].logits);
            for (size_t b = 0; b < found[i].blocks.size(); ++b) {
              EXPECT_EQ(found[i].blocks[b].units, right[i].blocks[b].units);
            }
          }
        }
      }
    }
  }
}

class SessionOf : public ::testing::TestWithParam<Halting> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SessionOf,
                         ::testing::Values(Halting::kNone, Halting::kAct, Halting::kSact),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(SessionOf, EightUsersOfOnePlanGetWhatOneGets) {
  const auto plan = random_plan(tiny_spec(GetParam(), {3, 4, 2}), 1);
  const Size size{70, 90};
  constexpr int kUsers = 8, kRuns = 5;
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<ImageResult>> right(kUsers);
  CpuSession alone(plan, 2);
  for (int user = 0; user < kUsers; ++user) {
    inputs.push_back(random_planes(2, size, uint64_t(10 + user)));
    right[size_t(user)] = alone.run(inputs.back(), 2, size);
  }
  std::vector<std::vector<ImageResult>> found(kUsers);
  std::vector<std::thread> users;
  for (size_t user = 0; user < kUsers; ++user) {
    users.emplace_back([&, user] {
      CpuSession session(plan, 2);
      for (int run = 0; run < kRuns; ++run) found[user] = session.run(inputs[user], 2, size);
    });
  }
  for (std::thread& user : users) user.join();
  for (size_t user = 0; user < kUsers; ++user) expect_same(found[user], right[user]);
}

TEST_P(SessionOf, ABatchInGroupsGivesEachImageWhatItGetsAlone) {
  ModelSpec spec = tiny_spec(GetParam(), {3, 2});
  spec.stem = Stem::kSmall;
  const Size size{192, 192};  // 2.3 MiB of stream an image: not all go together, on any machine
  constexpr size_t kImages = 13;
  const auto plan = random_plan(spec, 2);
  const std::vector<float> planes = random_planes(int(kImages), size, 3);
  CpuSession session(plan, 2);
  const auto together = session.run(planes, int(kImages), size);
  ASSERT_EQ(together.size(), kImages);
  const size_t values = planes.size() / kImages;
  for (size_t i = 0; i < kImages; ++i) {
    SCOPED_TRACE(i);
    const std::vector<float> image(planes.begin() + long(i * values),
                                   planes.begin() + long((i + 1) * values));
    const ImageResult alone = session.run(image, 1, size).front();
    // Sums over positions are rounded otherwise, so a score at the threshold may fall elsewhere.
    int64_t positions = 0, different = 0;
    for (size_t b = 0; b < alone.blocks.size(); ++b) {
      const std::vector<int32_t>&units = together[i].blocks[b].units,
            &right = alone.blocks[b].units;
      ASSERT_EQ(units.size(), right.size());
      positions += int64_t(units.size());
      for (size_t p = 0; p < units.size(); ++p) different += units[p] != right[p];
    }
    EXPECT_LE(double(different), 0.002 * double(positions));
    EXPECT_LT(relative_error(together[i].logits, alone.logits), different ? 1e-2 : 1e-4);
  }
}

TEST_P(SessionOf, ChangingSizesAndBatchesGiveWhatFreshSessionsGive) {
  const auto plan = random_plan(tiny_spec(GetParam(), {2, 3, 2}), 4);
  const std::pair<int, Size> runs[] = {{1, {64, 64}}, {3, {40, 96}}, {1, {128, 33}}, {2, {64, 64}},
                                       {1, {96, 96}}, {4, {32, 32}}, {1, {48, 64}},  {2, {80, 32}},
                                       {1, {33, 33}}, {5, {64, 48}}, {1, {64, 64}},  {3, {40, 96}}};
  CpuSession session(plan, 2);
  uint64_t seed = 0;
  for (const auto& [count, size] : runs) {
    SCOPED_TRACE(testing::Message() << count << " of " << size.height << "x" << size.width);
    const std::vector<float> planes = random_planes(count, size, ++seed);
    expect_same(session.run(planes, count, size), CpuSession(plan, 2).run(planes, count, size));
  }
}

TEST(CpuSession, PrescribedUnitsAreGivenAndCutBlocksShort) {
  const ModelSpec spec = tiny_spec(Halting::kSact, {3, 4});
  const test::WeightMap weights = test::random_weight_map(spec, 5);
  const Size size{64, 96};
  const std::vector<float> planes = random_planes(2, size, 6);
  CpuSession session(plan_of(spec, weights), 2);
  const auto free = session.run(planes, 2, size);

  std::vector<std::vector<int32_t>> units(2);
  Random random(7);
  for (int b = 0; b < 2; ++b) {
    units[size_t(b)].resize(size_t(2 * spec.block_size(b, size).positions()));
    for (int32_t& number : units[size_t(b)]) {
      number = int32_t(1 + random.below(spec.units[size_t(b)]));
    }
  }
  session.prescribe_units(units);
  const auto prescribed = session.run(planes, 2, size);
  for (size_t i = 0; i < 2; ++i) {
    for (size_t b = 0; b < 2; ++b) {
      const BlockResult& block = prescribed[i].blocks[b];
      const auto first = units[b].begin() + long(i * block.units.size());
      EXPECT_EQ(block.units, std::vector<int32_t>(first, first + long(block.units.size())));
      for (size_t p = 0; p < block.units.size(); ++p) {  // the remainder is all of 1
        ASSERT_EQ(block.ponder_cost.values[p], float(block.units[p] + 1));
      }
    }
  }

  // Scores 0, ..., 0, 1 make a block the plain block with fewer units.
  ModelSpec cut = spec;
  cut.halting = Halting::kNone;
  cut.units = {2, 3};
  for (size_t b = 0; b < 2; ++b) {
    std::fill(units[b].begin(), units[b].end(), cut.units[b]);
  }
  session.prescribe_units(units);
  const auto shortened = session.run(planes, 2, size);
  const auto plain = CpuSession(plan_of(cut, weights), 2).run(planes, 2, size);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LT(relative_error(shortened[i].logits, plain[i].logits), 1e-4);
  }

  session.prescribe_units({});
  expect_same(session.run(planes, 2, size), free);
}

TEST(CpuSession, PrescribedUnitsAreTheBatchsAlsoWhereItRunsInGroups) {
  ModelSpec spec = tiny_spec(Halting::kSact, {3});
  spec.stem = Stem::kSmall;
  const Size size{192, 192};
  const int positions = int(size.positions());
  std::vector<int32_t> units;
  for (int image = 0; image < 5; ++image) {
    units.insert(units.end(), size_t(positions), 1 + image % 3);
  }
  CpuSession session(random_plan(spec, 8), 2);
  session.prescribe_units({units});
  const auto results = session.run(random_planes(5, size, 9), 5, size);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i].blocks[0].units, std::vector<int32_t>(size_t(positions), 1 + int(i % 3)));
  }
}

TEST(CpuSession, BFloat16IsNearFloat32WithEveryInstructionSet) {
  ModelSpec spec = tiny_spec(Halting::kSact, {2, 3, 2});
  spec.width = 16;
  const test::WeightMap weights = test::random_weight_map(spec, 10);
  const Size size{64, 80};
  const std::vector<float> planes = random_planes(2, size, 11);
  // Scores are rounded otherwise too; given units leave the products to be compared.
  std::vector<std::vector<int32_t>> units;
  Random random(12);
  for (int b = 0; b < spec.blocks(); ++b) {
    units.emplace_back(size_t(2 * spec.block_size(b, size).positions()));
    for (int32_t& number : units.back()) {
      number = int32_t(1 + random.below(spec.units[size_t(b)]));
    }
  }
  for (const kernels::Table* table : kernels::tested_tables()) {
    SCOPED_TRACE(table->name);
    std::vector<std::vector<ImageResult>> results;
    for (const auto type : {kernels::DataType::kFloat32, kernels::DataType::kBFloat16}) {
      CpuSession session(plan_of(spec, weights, type, *table), 2);
      session.prescribe_units(units);
      results.push_back(session.run(planes, 2, size));
    }
    for (size_t i = 0; i < 2; ++i) {
      const double error = relative_error(results[1][i].logits, results[0][i].logits);
      EXPECT_LT(error, 2e-2);
      EXPECT_GT(error, 1e-6) << "bfloat16 was not used";
    }
  }
}

TEST(CpuSession, TheProfileNamesEveryLayerWithItsRows) {
  const ModelSpec spec = tiny_spec(Halting::kSact, {2, 3});
  const auto plan = random_plan(spec, 13);
  const Size size{64, 64};
  const int first = int(spec.block_size(0, size).positions());
  const int second = int(spec.block_size(1, size).positions());
  CpuSession session(plan, 2);
  session.set_profiling(true);
  // The upper half of block 2 goes on after its first unit; all of block 1 halts there.
  std::vector<int32_t> units(size_t(second), 1);
  std::fill_n(units.begin(), second / 2, 3);
  session.prescribe_units({std::vector<int32_t>(size_t(first), 1), units});
  session.run(random_planes(1, size, 14), 1, size);
  std::map<std::string, DescribedLayer> layers;
  for (DescribedLayer& layer : described_layers(*plan, session.profile())) {
    layers[layer.name] = std::move(layer);
  }
  // The stem, 2 + 3 units with 3 convolutions, 2 shortcuts, 1 + 2 scores, and the head.
  EXPECT_EQ(layers.size(), size_t(1 + 15 + 2 + 3 + 1));
  EXPECT_EQ(layers.at("stages.0.blocks.0.conv2").profile.rows, first);
  EXPECT_EQ(layers.at("stages.0.blocks.0.conv2").product(), "9 x 4 to 4");
  EXPECT_EQ(layers.at("stages.0.blocks.0.downsample.conv").product(), "4 to 16");
  EXPECT_EQ(layers.at("stages.0.blocks.1.conv2").profile.rows, 0);
  EXPECT_EQ(layers.at("stages.1.blocks.1.conv2").profile.rows, second / 2);
  // The active half, and the line beside it.
  const int width = spec.block_size(1, size).width;
  EXPECT_EQ(layers.at("stages.1.blocks.1.conv1").profile.rows, second / 2 + width);
  const DescribedLayer& score = layers.at("stages.1.blocks.1.halting");
  EXPECT_TRUE(score.score);
  EXPECT_EQ(score.product(), "9 x 32 to 1");
  EXPECT_EQ(score.profile.rows, second / 2 + width);
  EXPECT_EQ(layers.at("head.fc").profile.rows, 1);
  EXPECT_NE(line_of(layers.at("stages.0.blocks.1.conv2"), *plan).find("not run"),
            std::string::npos);
  const std::string line = line_of(layers.at("stages.1.blocks.1.conv2"), *plan);
  EXPECT_EQ(
      line.find("stages.1.blocks.1.conv2: 32 rows, 9 x 8 to 8, " + std::string(plan->table.name) +
                " fp32, taps in registers (below 1 KiB a tap), "),
      0u)
      << line;
}

/// What the system says of this process under a key of /proc/self/status, in bytes.
int64_t process_bytes(const std::string& key) {
  std::ifstream lines("/proc/self/status");
  std::string word;
  int64_t kib = 0;
  while (lines >> word) {
    if (word == key && lines >> kib) return kib * 1024;
  }
  return 0;
}

#ifndef SACT_MEMORY_IS_SANITIZED

TEST(SessionMemory, IsEstimatedBeforeItIsTaken) {
  for (const Halting halting : {Halting::kNone, Halting::kSact}) {
    ModelSpec spec = tiny_spec(halting, {1, 1});
    spec.width = 32;
    const auto plan = random_plan(spec, 1);
    CpuSession session(plan, 2);
    const Size size{700, 900};
    const int64_t needed = session.bytes_needed(3, size), before = process_bytes("VmSize:");
    const auto planes = random_planes(3, size, 1);
    const auto results = session.run(planes, 3, size);
    const int64_t taken = process_bytes("VmSize:") - before;
    EXPECT_GT(needed, 100 << 20);
    EXPECT_NEAR(double(taken) / double(needed), 1, 0.1) << name_of(halting);
    session.expect_memory(3, size);
  }
}

#endif

TEST(SessionMemory, GrowsWithThreadsAndImages) {
  const auto plan = random_plan(tiny_spec(Halting::kSact), 1);
  const CpuSession one(plan, 1), four(plan, 4);
  const Size size{320, 320};
  EXPECT_GT(four.bytes_needed(1, size), one.bytes_needed(1, size));
  EXPECT_GT(one.bytes_needed(64, size), 64 * 3 * 320 * 320 * 4);
}

TEST(SessionMemory, ThatIsNotThereIsRefused) {
  const auto plan = random_plan(tiny_spec(Halting::kNone), 1);
  const CpuSession session(plan, 1);
  const std::string message = sact::test::error_of([&] {
    session.expect_memory(1 << 20, {4000, 5000});
  });
  EXPECT_NE(message.find("running 1048576 images of 4000x5000 would need"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace sact::engine
