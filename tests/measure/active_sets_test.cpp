// Active sets made up for measuring have the share that they are asked for, in few regions.
#include "measure/active_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/random_model.h"

namespace sact::measure {
namespace {

/// Regions of positions that are in the set and touch each other, also at corners.
int regions(std::vector<bool> set, Size size) {
  int count = 0;
  std::vector<int> open;
  for (int start = 0; start < int(set.size()); ++start) {
    if (!set[size_t(start)]) continue;
    ++count;
    set[size_t(start)] = false;
    open.push_back(start);
    while (!open.empty()) {
      const int y = open.back() / size.width, x = open.back() % size.width;
      open.pop_back();
      for (int sy = std::max(y - 1, 0); sy < std::min(y + 2, size.height); ++sy) {
        for (int sx = std::max(x - 1, 0); sx < std::min(x + 2, size.width); ++sx) {
          const int neighbour = sy * size.width + sx;
          if (!set[size_t(neighbour)]) continue;
          set[size_t(neighbour)] = false;
          open.push_back(neighbour);
        }
      }
    }
  }
  return count;
}

TEST(UnitsOfDensity, EveryBlockOfEveryImageHasExactlyTheShareInFewRegions) {
  const ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4, 2, 5});
  const Size size{224, 160};
  constexpr int kImages = 3;
  for (const double density : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << "density " << density << ", seed " << seed);
      const auto units = units_of_density(spec, kImages, size, density, seed);
      ASSERT_EQ(units.size(), 4u);
      for (int b = 0; b < spec.blocks(); ++b) {
        const Size grid = spec.block_size(b, size);
        const size_t positions = size_t(grid.positions());
        ASSERT_EQ(units[size_t(b)].size(), kImages * positions);
        for (size_t image = 0; image < kImages; ++image) {
          std::vector<bool> active;
          for (size_t p = 0; p < positions; ++p) {
            const int32_t number = units[size_t(b)][image * positions + p];
            ASSERT_TRUE(number == 1 || number == spec.units[size_t(b)]) << number;
            active.push_back(number > 1);
          }
          EXPECT_EQ(std::count(active.begin(), active.end(), true),
                    std::lround(density * double(positions)));
          EXPECT_LE(regions(active, grid), 4);  // as many as there are hills
        }
      }
    }
  }
}

TEST(UnitsOfDensity, TheSeedAndTheImageDecide) {
  const ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  const Size size{128, 128};
  const auto units = units_of_density(spec, 2, size, 0.5, 1);
  EXPECT_EQ(units, units_of_density(spec, 2, size, 0.5, 1));
  EXPECT_NE(units, units_of_density(spec, 2, size, 0.5, 2));
  const size_t positions = size_t(spec.block_size(0, size).positions());
  const std::vector<int32_t> first(units[0].begin(), units[0].begin() + long(positions));
  EXPECT_NE(first, std::vector<int32_t>(units[0].begin() + long(positions), units[0].end()));
  // A batch has the regions that its images have in smaller ones.
  EXPECT_EQ(units_of_density(spec, 1, size, 0.5, 1)[0], first);
}

TEST(UnitsOfDensity, BlocksHaveTheSameRegion) {
  const ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  const Size size{256, 256};
  const auto units = units_of_density(spec, 1, size, 0.3, 3);
  const Size fine = spec.block_size(0, size), coarse = spec.block_size(1, size);
  int64_t equal = 0;
  for (int y = 0; y < fine.height; ++y) {
    for (int x = 0; x < fine.width; ++x) {
      const bool in_fine = units[0][size_t(y * fine.width + x)] > 1;
      const bool in_coarse = units[1][size_t(y / 2 * coarse.width + x / 2)] > 1;
      equal += in_fine == in_coarse;
    }
  }
  EXPECT_GT(double(equal), 0.95 * double(fine.positions()));
}

}  // namespace
}  // namespace sact::measure
