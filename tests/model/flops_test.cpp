// Analytic FLOPs against the published totals, hand counts and a direct count of active sets.
#include "model/flops.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "support/errors.h"

namespace sact {
namespace {

ModelSpec imagenet(std::vector<int> units, Halting halting = Halting::kNone) {
  ModelSpec spec;
  spec.units = std::move(units);
  spec.classes = 1001;
  spec.halting = halting;
  return spec;
}

TEST(Flops, TotalsOfThePaperToTheLastDigit) {
  EXPECT_EQ(dense_flops(imagenet({3, 4, 23, 3}), {224, 224}), 15'602'814'976);
  EXPECT_EQ(dense_flops(imagenet({3, 4, 6, 3}), {224, 224}), 8'178'372'608);
  EXPECT_EQ(dense_flops(imagenet({2, 4, 13, 3}), {224, 224}), 10'798'764'032);
}

TEST(Flops, PublishedPostActivationNetworks) {
  ModelSpec spec = imagenet({3, 4, 6, 3});
  spec.classes = 1000;
  spec.unit = UnitKind::kBottleneckV1;
  EXPECT_EQ(dense_flops(spec, {224, 224}), 2 * 4'089'184'256ll) << "torchvision's resnet50";
  spec.stride_on = StrideOn::k1x1;
  EXPECT_EQ(dense_flops(spec, {224, 224}), 2 * 3'857'973'248ll) << "the first publication's";
  spec.stride_on = StrideOn::k3x3;
  spec.unit = UnitKind::kBasicV1;
  spec.units = {2, 2, 2, 2};
  EXPECT_EQ(dense_flops(spec, {224, 224}), 2 * 1'814'073'344ll) << "torchvision's resnet18";
}

TEST(Flops, DenseMeansWithoutHaltingScores) {
  const Size size{224, 224};
  const ModelSpec sact = imagenet({3, 4, 23, 3}, Halting::kSact);
  EXPECT_EQ(dense_flops(sact, size), 15'602'814'976);
  // 2 * 9 * C * positions for the local and 2 * C for the global term of units 1 ... L-1.
  int64_t expected = 0;
  for (const auto& [units, channels, positions] :
       {std::tuple<int64_t, int64_t, int64_t>{2, 256, 56 * 56},
        {3, 512, 28 * 28},
        {22, 1024, 14 * 14},
        {2, 2048, 7 * 7}}) {
    expected += units * (2 * 9 * channels * positions + 2 * channels);
  }
  EXPECT_EQ(halting_flops(sact, size), expected);
}

TEST(Flops, SmallNetworkByHand) {
  ModelSpec spec;
  spec.stem = Stem::kSmall;
  spec.unit = UnitKind::kBasic;
  spec.units = {1, 2};
  spec.width = 8;
  spec.classes = 5;
  // 32x48 image: stem 3>8; block 1: shortcut, two 3x3; block 2 (16x24): first unit 8>16.
  const int64_t p1 = 32 * 48, p2 = 16 * 24;
  const int64_t stem = 2 * p1 * 9 * 3 * 8;
  const int64_t block1 = 2 * p1 * (8 * 8 + 9 * 8 * 8 + 9 * 8 * 8);
  const int64_t block2 = 2 * p2 * (8 * 16 + 9 * 8 * 16 + 9 * 16 * 16) + 2 * p2 * 2 * 9 * 16 * 16;
  EXPECT_EQ(dense_flops(spec, {32, 48}), stem + block1 + block2 + 2 * 16 * 5);
}

TEST(Flops, FirstConvolutionOfAStridedUnitRunsAtTheFinerResolution) {
  for (const LayerCost& layer : layer_list(imagenet({3, 4, 23, 3}), {224, 224})) {
    if (layer.name == "stages.1.blocks.0.conv1") {
      EXPECT_EQ(layer.size, (Size{56, 56}));
    } else if (layer.name.starts_with("stages.1.blocks.0.")) {
      EXPECT_EQ(layer.size, (Size{28, 28})) << layer.name;
    }
  }
}

/// Counts active sets and their dilation one by one, from the definition.
BlockActivity pluralize(const std::vector<int32_t>& units, Size size, int unit_count) {
  BlockActivity activity;
  for (int l = 1; l <= unit_count; ++l) {
    std::set<std::pair<int, int>> active, dilated;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        if (units[size_t(y * size.width + x)] < l) continue;
        active.insert({y, x});
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int ny = y + dy, nx = x + dx;
            if (ny >= 0 && nx >= 0 && ny < size.height && nx < size.width) dilated.insert({ny, nx});
          }
        }
      }
    }
    activity.push_back({int64_t(active.size()), int64_t(dilated.size())});
  }
  return activity;
}

TEST(Flops, ActivityEqualsADirectCount) {
  const uint64_t seed = 21;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const Size size{1 + int(random.below(9)), 1 + int(random.below(9))};
    const int unit_count = 1 + int(random.below(6));
    std::vector<int32_t> units(size_t(size.positions()));
    for (int32_t& n : units) n = 1 + int32_t(random.below(unit_count));
    const BlockActivity expected = pluralize(units, size, unit_count);
    const BlockActivity found = block_activity(units, size, unit_count);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t l = 0; l < found.size(); ++l) {
      EXPECT_EQ(found[l].active, expected[l].active);
      EXPECT_EQ(found[l].dilated, expected[l].dilated);
    }
  }
}

std::vector<BlockActivity> all_active(const ModelSpec& spec, Size image, int units) {
  std::vector<BlockActivity> activity;
  for (int block = 0; block < spec.blocks(); ++block) {
    const Size size = spec.block_size(block, image);
    const int count = spec.units[size_t(block)];
    activity.push_back(block_activity(
        std::vector<int32_t>(size_t(size.positions()), std::min(units, count)), size, count));
  }
  return activity;
}

TEST(Flops, AdaptiveNetworkThatNeverHaltsCostsDensePlusHalting) {
  const Size image{97, 130};
  for (Halting halting : {Halting::kAct, Halting::kSact}) {
    const ModelSpec spec = imagenet({3, 4, 6, 3}, halting);
    EXPECT_EQ(adaptive_flops(layer_list(spec, image), all_active(spec, image, 1000)),
              dense_flops(spec, image) + halting_flops(spec, image));
  }
}

TEST(Flops, BlocksCutAfterKUnitsCostTheShorterNetworkPlusItsScores) {
  const Size image{64, 96};
  const ModelSpec spec = imagenet({3, 4, 6, 3}, Halting::kSact);
  const ModelSpec shorter = imagenet({2, 2, 2, 2}, Halting::kSact);
  // The longer network also scores unit 2, which is the last of the shorter one.
  int64_t last_scores = 0;
  for (int block = 0; block < 4; ++block) {
    const int64_t channels = spec.block_channels(block);
    last_scores += 2 * 9 * channels * spec.block_size(block, image).positions() + 2 * channels;
  }
  EXPECT_EQ(adaptive_flops(layer_list(spec, image), all_active(spec, image, 2)),
            dense_flops(shorter, image) + halting_flops(shorter, image) + last_scores);
}

TEST(Flops, OneActivePositionCostsItsNeighbourhood) {
  ModelSpec spec = imagenet({2}, Halting::kSact);
  const Size image{32, 32};  // 8x8 positions
  auto flops_with = [&](int position) {
    std::vector<int32_t> units(64, 1);
    if (position >= 0) units[size_t(position)] = 2;
    const std::vector<BlockActivity> activity = {block_activity(units, {8, 8}, 2)};
    return adaptive_flops(layer_list(spec, image), activity);
  };
  const int64_t none = flops_with(-1), corner = flops_with(0), inner = flops_with(8 * 3 + 3);
  const int64_t conv1 = 2 * 256 * 64, rest = 2 * (9 * 64 * 64 + 64 * 256);
  EXPECT_EQ(corner - none, 4 * conv1 + rest);
  EXPECT_EQ(inner - none, 9 * conv1 + rest);
}

TEST(Flops, AbsurdNetworksAreRefusedInsteadOfOverflowing) {
  ModelSpec spec;
  spec.units = std::vector<int>(6, 1000);
  spec.width = 1024;
  test::error_of([&] { dense_flops(spec, {32768, 32768}); });
  test::error_of([&] { layer_list(spec, {31, 64}); });
}

}  // namespace
}  // namespace sact
