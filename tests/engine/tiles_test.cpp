// Layers over tiles: which tiles, when, and that a network gives with them what it gives without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/cpu/session.h"
#include "engine/cpu/tile_choice.h"
#include "engine/cpu/touched_tiles.h"
#include "engine/plans.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;
using sact::test::tiny_spec;

constexpr UnitKind kUnitKinds[] = {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1,
                                   UnitKind::kBasicV1};
constexpr Halting kHaltings[] = {Halting::kNone, Halting::kAct, Halting::kSact};

std::shared_ptr<const Plan> plan_with(Multiplications multiplications, const ModelSpec& spec,
                                      const test::WeightMap& weights,
                                      const kernels::Table& table = kernels::chosen_table(),
                                      kernels::DataType type = kernels::DataType::kFloat32) {
  return std::make_shared<Plan>(
      spec, [&](const WeightInfo& info) { return weights.at(info.name); }, table, type,
      multiplications);
}

ModelSpec spec_of(Halting halting, UnitKind unit) {
  ModelSpec spec = tiny_spec(halting, {3, 4, 2});
  spec.unit = unit;
  spec.width = 20;
  return spec;
}

/// Random numbers of units for every position, so that no score at a threshold decides.
std::vector<std::vector<int32_t>> random_units(const ModelSpec& spec, int images, Size size,
                                               uint64_t seed) {
  std::vector<std::vector<int32_t>> units;
  Random random(seed);
  for (int b = 0; b < spec.blocks(); ++b) {
    units.emplace_back(size_t(images * spec.block_size(b, size).positions()));
    for (int32_t& number : units.back()) number = int32_t(1 + random.below(spec.units[size_t(b)]));
  }
  return units;
}

double relative_error(const std::vector<float>& found, const std::vector<float>& right) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - double(right[i]), 2);
    norm += std::pow(double(right[i]), 2);
  }
  return std::sqrt(error / norm);
}

int layers_over_tiles(CpuSession& session, const std::vector<float>& planes, int images,
                      Size size) {
  const std::vector<LayerTime> layers = session.time_layers(planes_view(planes, images, size));
  return int(std::count_if(layers.begin(), layers.end(), [](const LayerTime& layer) {
    return std::string(layer.tap_order).find("tiles") != std::string::npos;
  }));
}

TEST(Tiles, NetworksGiveOverTilesWhatTheyGiveWithDirectProducts) {
  const std::pair<int, Size> runs[] = {{1, {64, 64}}, {3, {70, 90}}, {1, {130, 100}}};
  for (const kernels::Table* table : kernels::available_tables()) {
    for (const Halting halting : kHaltings) {
      for (const UnitKind unit : kUnitKinds) {
        const ModelSpec spec = spec_of(halting, unit);
        const test::WeightMap weights = test::random_weight_map(spec, 31);
        CpuSession fewest(plan_with(Multiplications::kFewest, spec, weights, *table), 2);
        CpuSession direct(plan_with(Multiplications::kDirect, spec, weights, *table), 2);
        for (const auto& [images, size] : runs) {
          if (table == &kernels::scalar_table() && images > 1) break;  // it takes its time
          SCOPED_TRACE(testing::Message()
                       << table->name << ", " << name_of(halting) << ", " << name_of(unit) << ", "
                       << images << " of " << size.height << "x" << size.width);
          const std::vector<float> planes = random_planes(images, size, 32);
          if (halting == Halting::kSact) {
            fewest.prescribe_units(random_units(spec, images, size, 33));
            direct.prescribe_units(random_units(spec, images, size, 33));
          }
          EXPECT_GT(layers_over_tiles(fewest, planes, images, size), 0);
          EXPECT_EQ(layers_over_tiles(direct, planes, images, size), 0);
          const auto found = fewest.run(planes, images, size);
          const auto right = direct.run(planes, images, size);
          for (size_t i = 0; i < right.size(); ++i) {
            EXPECT_LT(relative_error(found[i].logits, right[i].logits), 1e-5);
            EXPECT_EQ(found[i].flops, right[i].flops);
          }
        }
      }
    }
  }
}

TEST(Tiles, NetworksOf16BitsGiveOverTilesNearlyWhatTheyGiveWithDirectProducts) {
  constexpr auto kType = kernels::DataType::kBFloat16;
  constexpr Size kSize{70, 90};
  const std::vector<float> planes = random_planes(1, kSize, 34);
  int runs = 0;
  for (const kernels::Table* table : kernels::available_tables()) {
    if (!table->functions(kType).tiles.product) continue;  // matrix tiles are direct
    if (table == &kernels::scalar_table()) continue;       // it takes its time
    for (const Halting halting : {Halting::kNone, Halting::kSact}) {
      for (const UnitKind unit : kUnitKinds) {
        ModelSpec spec = spec_of(halting, unit);
        spec.width = 64;  // of few channels direct products are faster
        const test::WeightMap weights = test::random_weight_map(spec, 31);
        SCOPED_TRACE(testing::Message()
                     << table->name << ", " << name_of(halting) << ", " << name_of(unit));
        CpuSession whole(plan_with(Multiplications::kDirect, spec, weights, *table), 2);
        CpuSession direct(plan_with(Multiplications::kDirect, spec, weights, *table, kType), 2);
        CpuSession tiles(plan_with(Multiplications::kFewest, spec, weights, *table, kType), 2);
        for (CpuSession* session : {&whole, &direct, &tiles}) {
          if (halting == Halting::kSact) {
            session->prescribe_units(random_units(spec, 1, kSize, 33));
          }
        }
        EXPECT_GT(layers_over_tiles(tiles, planes, 1, kSize), 0);
        const auto right = whole.run(planes, 1, kSize), found = tiles.run(planes, 1, kSize),
                   plain = direct.run(planes, 1, kSize);
        for (size_t i = 0; i < right.size(); ++i) {
          EXPECT_LT(relative_error(found[i].logits, right[i].logits),
                    0.002 + 3 * relative_error(plain[i].logits, right[i].logits));
          EXPECT_EQ(found[i].flops, right[i].flops);
        }
        ++runs;
      }
    }
  }
  EXPECT_GT(runs, 0);
}

TEST(Tiles, WhatANetworkGivesDoesNotDependOnTheThreads) {
  const Size size{96, 130};
  for (const Halting halting : kHaltings) {
    for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBasic}) {
      const ModelSpec spec = spec_of(halting, unit);
      const auto plan =
          plan_with(Multiplications::kFewest, spec, test::random_weight_map(spec, 41));
      const std::vector<float> planes = random_planes(2, size, 42);
      std::vector<ImageResult> first;
      for (const int threads : {1, 2, 3, 7}) {
        CpuSession session(plan, threads);
        if (halting != Halting::kNone) session.prescribe_units(random_units(spec, 2, size, 43));
        const auto found = session.run(planes, 2, size);
        if (first.empty()) first = found;
        for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(found[i].logits, first[i].logits);
      }
    }
  }
}

TEST(Tiles, WhatRowsHeldBeforeTheyHaltedDoesNotCount) {
  const Size size{80, 100};
  for (const UnitKind unit : kUnitKinds) {
    SCOPED_TRACE(name_of(unit));
    const ModelSpec spec = spec_of(Halting::kSact, unit);
    const auto plan = plan_with(Multiplications::kFewest, spec, test::random_weight_map(spec, 51));
    const std::vector<float> planes = random_planes(1, size, 52);
    const auto units = random_units(spec, 1, size, 53);
    CpuSession fresh(plan, 2), used(plan, 2);
    fresh.prescribe_units(units);
    used.prescribe_units(units);
    // Not a number wherever the network keeps something.
    used.run(std::vector<float>(planes.size(), std::numeric_limits<float>::quiet_NaN()), 1, size);
    const auto found = used.run(planes, 1, size), right = fresh.run(planes, 1, size);
    EXPECT_EQ(found[0].logits, right[0].logits);
    for (const float logit : found[0].logits) EXPECT_TRUE(std::isfinite(logit));
  }
}

TEST(Tiles, AreThoseWithAnyPositionOfASet) {
  Random random(61);
  for (const int side : kernels::kTileSides) {
    for (int run = 0; run < 20; ++run) {
      const kernels::TileGrid grid{2, int(1 + random.below(11)), int(1 + random.below(11)), side};
      std::vector<uint8_t> mask(size_t(grid.images * grid.height * grid.width));
      std::vector<uint8_t> expected(size_t(grid.count()));
      for (size_t i = 0; i < mask.size(); ++i) {
        mask[i] = random.below(8) == 0;
        const int x = int(i) % grid.width, line = int(i) / grid.width;
        const int image = line / grid.height, y = line % grid.height;
        const int tile = (image * grid.down() + y / side) * grid.across() + x / side;
        expected[size_t(tile)] |= mask[i];
      }
      RowList found, right;
      touched_tiles(grid, mask.data(), found);
      for (int32_t t = 0; t < grid.count(); ++t) {
        if (expected[size_t(t)]) right.push_back(t);
      }
      EXPECT_EQ(found, right);
      std::fill(mask.begin(), mask.end(), uint8_t{1});
      touched_tiles(grid, mask.data(), found);
      all_tiles(grid, right);
      EXPECT_EQ(found, right);
    }
  }
}

TEST(Tiles, SmallMapsAreDirectAndLargeOnesHaveLargeTiles) {
  // ResNet-101 at 224x224, alone and in a batch, and at 608x1000.
  EXPECT_EQ(tile_side({64, 64}, 1, 56, 56), 4);
  EXPECT_EQ(tile_side({128, 128}, 1, 28, 28), 4);
  EXPECT_EQ(tile_side({256, 256}, 1, 14, 14), 2);
  EXPECT_EQ(tile_side({512, 512}, 1, 7, 7), 0);
  EXPECT_EQ(tile_side({256, 256}, 8, 14, 14), 4);
  EXPECT_EQ(tile_side({256, 256}, 1, 38, 63), 4);
  EXPECT_EQ(tile_side({512, 512}, 1, 19, 32), 4);
  // Numbers of 16 bits are exact enough for small ones, and those of 8 bits for none.
  EXPECT_EQ(tile_side({256, 256, kernels::DataType::kBFloat16}, 1, 38, 63), 2);
  EXPECT_EQ(tile_side({256, 256, kernels::DataType::kInt8}, 1, 38, 63), 0);
}

TEST(Tiles, FewPositionsInManyTilesAreDirect) {
  const WindowLayer layer{256, 256};
  EXPECT_LT(tile_cost(layer, 4, 100), direct_cost(layer, 1600));  // all of them
  EXPECT_GT(tile_cost(layer, 4, 100), direct_cost(layer, 100));   // one in each
}

TEST(TileWeights, AreMadeOnceAndEqualForAllSessions) {
  const ModelSpec spec = spec_of(Halting::kNone, UnitKind::kBasic);
  const auto plan = plan_with(Multiplications::kFewest, spec, test::random_weight_map(spec, 71));
  const PackedLayer& layer = plan->blocks[0][1].layers[0];
  ASSERT_TRUE(layer.tiles);
  ThreadTeam one(1), three(3);
  for (const int side : kernels::kTileSides) {
    TileWeights* const layers[] = {layer.tiles.get()};
    const int sides[] = {side};
    make_tile_weights(layers, sides, three);
    const kernels::PackedWeights& made = layer.tiles->of(side);
    const void* data = made.data;
    make_tile_weights(layers, sides, one);
    EXPECT_EQ(layer.tiles->of(side).data, data);
    EXPECT_EQ(made.taps, (side + 2) * (side + 2));
    std::vector<float> again(size_t(kernels::transformed_bytes(layer.weights, side)) / 4);
    kernels::transform_weights(layer.weights, side, 0, layer.weights.panels(), again.data());
    EXPECT_TRUE(std::equal(again.begin(), again.end(), static_cast<const float*>(made.data)));
  }
  EXPECT_FALSE(plan_with(Multiplications::kDirect, spec, test::random_weight_map(spec, 71))
                   ->blocks[0][1]
                   .layers[0]
                   .tiles);
}

}  // namespace
}  // namespace sact::engine
