// What is derived from a network's output.
#include "model/result.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/flops.h"

namespace sact {
namespace {

TEST(Result, TopClassesAreSoftmaxInOrderWithTiesByIndex) {
  const auto top = top_classes({0, 2, 2, -1000}, 3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].index, 1);
  EXPECT_EQ(top[1].index, 2);
  EXPECT_EQ(top[2].index, 0);
  EXPECT_NEAR(top[0].score, std::exp(2.0) / (1 + 2 * std::exp(2.0)), 1e-6);
  EXPECT_EQ(top_classes({1}, 5).size(), 1u);
}

TEST(Result, HugeLogitsDoNotOverflow) {
  const auto top = top_classes({3e38f, -3e38f}, 2);
  EXPECT_EQ(top[0].score, 1);
  EXPECT_EQ(top[1].score, 0);
}

TEST(Result, MeansAreOverPositionsAndSumsOverBlocks) {
  ImageResult result;
  BlockResult a, b;
  a.ponder_cost = Map(1, 2);
  a.ponder_cost.values = {1, 2};
  a.units = {1, 2};
  b.ponder_cost = Map(1, 1, 4);
  b.units = {3};
  result.blocks = {a, b};
  EXPECT_DOUBLE_EQ(mean_ponder_cost(a), 1.5);
  EXPECT_DOUBLE_EQ(mean_units(a), 1.5);
  EXPECT_DOUBLE_EQ(ponder_cost(result), 5.5);
  EXPECT_EQ(ponder_cost_map(result).values, (std::vector<float>{5, 6}));
}

TEST(Result, FlopsComeFromTheUnitMaps) {
  ModelSpec spec;
  spec.units = {2, 1};
  spec.width = 8;
  const Size image{32, 32};
  std::vector<BlockResult> blocks(2);
  blocks[0].units.assign(64, 2);
  blocks[1].units.assign(16, 1);
  EXPECT_EQ(result_flops(spec, image, blocks), dense_flops(spec, image));
}

}  // namespace
}  // namespace sact
