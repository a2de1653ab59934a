// Products on tiles: how lists are cut into them, and that AMX is what its emulation says, to the
// last bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/tiles/emulated.h"
#include "kernels/cpu/tiles/hardware.h"
#include "kernels/cpu/tiles/row_tiles.h"
#include "kernels/random_rows.h"
#include "kernels/tested_tables.h"

namespace sact::kernels {
namespace {

/// A grid of hidden rows with a border of zeros, as a 3x3 convolution reads it.
struct BorderedGrid {
  int height, width;
  int line() const { return width + 1; }
  int rows() const { return (height + 2) * line() + 1; }
  std::vector<int32_t> neighbours() const {
    std::vector<int32_t> all;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int tap = 0; tap < 9; ++tap) {
          all.push_back(int32_t((y + tap / 3) * line() + x + tap % 3));
        }
      }
    }
    return all;
  }
};

constexpr int kDepth = 64;

RowProduct grid_product(const std::vector<uint16_t>& input, const std::vector<int32_t>& neighbours,
                        const std::vector<int32_t>& list) {
  RowProduct product;
  product.rows = int(list.size());
  product.input = input.data();
  product.input_stride = kDepth;
  product.input_rows = neighbours.data();
  product.list = list.data();
  product.taps = 9;
  product.depth = kDepth;
  product.last_panel = 2;
  return product;
}

/// Every output is in one row of one tile, and each tap of it is read where the product says.
void expect_every_row(const RowTiles& rows, const RowProduct& p) {
  std::vector<int> found(size_t(p.rows));
  for (const RowTile& tile : rows.tiles()) {
    ASSERT_LE(tile.height, kTileHeight);
    for (int r = 0; r < tile.height; ++r) {
      const int i = tile.outputs[r];
      if (i < 0) continue;
      ++found[size_t(i)];
      for (int tap = 0; tap < p.taps; ++tap) {
        const int64_t position = p.list ? p.list[i] : i;
        const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
        const auto* expected = static_cast<const uint16_t*>(p.input) + row * p.input_stride;
        std::vector<uint16_t> read;
        for (int k = 0; k < p.depth; k += kTileDepth) {
          uint16_t line[kTileDepth];
          std::memcpy(
              line, rows.source(tile, tap) + r * tile.row_bytes + k / kTileDepth * tile.step_bytes,
              sizeof line);
          read.insert(read.end(), line, line + kTileDepth);
        }
        for (int k = 0; k < int(read.size()); ++k) {
          ASSERT_EQ(read[size_t(k)], k < p.depth ? expected[k] : 0) << "output " << i;
        }
      }
    }
  }
  for (const int count : found) ASSERT_EQ(count, 1);
}

std::vector<uint16_t> distinct_numbers(size_t count) {
  std::vector<uint16_t> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = uint16_t(i * 40503u >> 3);
  return numbers;
}

TEST(RowTiles, OfAWholeGridWithABorderAreAllReadInPlace) {
  for (const BorderedGrid grid : {BorderedGrid{14, 14}, {7, 7}, {5, 56}}) {
    const auto input = distinct_numbers(size_t(grid.rows()) * kDepth);
    const auto neighbours = grid.neighbours();
    std::vector<int32_t> list(neighbours.size() / 9);
    std::iota(list.begin(), list.end(), 0);
    const RowProduct product = grid_product(input, neighbours, list);
    RowTiles rows;
    rows.cut(product, 2);
    expect_every_row(rows, product);
    EXPECT_EQ(rows.copied(), 0);
    const int positions = grid.height * grid.line();
    EXPECT_LE(int(rows.tiles().size()), positions / kTileHeight + 1);
  }
}

TEST(RowTiles, RowsWithoutNeighboursInTheListAreCopiedTogether) {
  const BorderedGrid grid{14, 14};
  const auto input = distinct_numbers(size_t(grid.rows()) * kDepth);
  const auto neighbours = grid.neighbours();
  // Seven together, and ten far from each other.
  std::vector<int32_t> list = {20, 21, 22, 23, 24, 25, 26};
  for (int i = 0; i < 10; ++i) list.push_back(40 + 13 * i);
  const RowProduct product = grid_product(input, neighbours, list);
  RowTiles rows;
  rows.cut(product, 2);
  expect_every_row(rows, product);
  EXPECT_EQ(rows.copied(), 10);
  ASSERT_EQ(rows.tiles().size(), 2u);
  EXPECT_EQ(rows.tiles()[0].height, 10);
  EXPECT_EQ(rows.tiles()[1].height, 7);
}

TEST(RowTiles, HoldEveryRowOfRandomLists) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const BorderedGrid grid{random_int(random, 1, 20), random_int(random, 1, 20)};
    const auto input = distinct_numbers(size_t(grid.rows()) * kDepth);
    auto neighbours = grid.neighbours();
    const double density = random.uniform(0, 1);
    std::vector<int32_t> list;
    for (int i = 0; i < grid.height * grid.width; ++i) {
      if (random.uniform(0, 1) <= density) list.push_back(i);
    }
    if (seed % 3 == 0) {  // taps anywhere
      for (int32_t& row : neighbours) row = random_int(random, 0, grid.rows() - 1);
    }
    RowProduct product = grid_product(input, neighbours, list);
    if (seed % 4 == 0) product.depth = random_int(random, 1, kDepth);
    RowTiles rows;
    rows.cut(product, 2);
    expect_every_row(rows, product);
    if (HasFatalFailure()) return;
  }
}

TEST(RowTiles, ReadRowsAtADistanceOfTwoInPlace) {
  std::vector<int32_t> rows_read;
  for (int i = 0; i < 14; ++i) rows_read.push_back(2 * i);
  const auto input = distinct_numbers(28 * kDepth);
  RowProduct product = grid_product(input, rows_read, {});
  product.rows = 14;
  product.list = nullptr;
  product.taps = 1;
  RowTiles rows;
  rows.cut(product, 2);
  expect_every_row(rows, product);
  EXPECT_EQ(rows.copied(), 0);
  EXPECT_EQ(rows.tiles().size(), 1u);
}

TEST(EmulatedTiles, AddPairsOfProductsToTheSum) {
  EmulatedTiles tiles;
  tiles.configure({2, 1});
  const float start[2][kTileColumns] = {{10}, {20}};
  uint16_t rows[2][kTileDepth] = {}, weights[kTileGroups][kTileDepth] = {};
  rows[0][0] = bf16_from_float(2);
  rows[0][3] = bf16_from_float(3);
  rows[1][0] = bf16_from_float(-1);
  weights[0][0] = bf16_from_float(5);  // depth 0 of column 0
  weights[1][1] = bf16_from_float(7);  // depth 3 of it
  float sums[2][kTileColumns];
  tiles.load<0>(start, kTileRowBytes);
  tiles.load<kRowsTile>(rows, kTileRowBytes);
  tiles.load<kWeightsTile>(weights, kTileRowBytes);
  tiles.dot<0, kRowsTile, kWeightsTile>();
  tiles.store<0>(sums, kTileRowBytes);
  EXPECT_EQ(sums[0][0], 10 + 2 * 5 + 3 * 7);
  EXPECT_EQ(sums[1][0], 20 - 5);
  EXPECT_EQ(sums[0][1], 0);
}

#if defined(__x86_64__)
/// Two products of random numbers with those that processors treat apart among them.
template <typename Tiles>
std::vector<float> two_products(const std::vector<uint16_t>& numbers, const TileHeights& heights) {
  constexpr size_t kTile = kTileHeight * kTileDepth;
  std::vector<float> sums(2 * kTileHeight * kTileColumns);
  Tiles tiles;
  tiles.configure(heights);
  tiles.template load<0>(numbers.data(), kTileRowBytes);
  tiles.template load<2>(numbers.data(), kTileRowBytes);
  for (size_t turn = 0; turn < 2; ++turn) {
    const uint16_t* from = numbers.data() + turn * 2 * kTile;
    tiles.template load<kRowsTile>(from, kTileRowBytes);
    tiles.template load<kSecondRowsTile>(from, kTileRowBytes);
    tiles.template load<kWeightsTile>(from + kTile, kTileRowBytes);
    tiles.template dot<0, kRowsTile, kWeightsTile>();
    tiles.template dot<2, kSecondRowsTile, kWeightsTile>();
  }
  tiles.template store<0>(sums.data(), kTileRowBytes);
  tiles.template store<2>(sums.data() + kTileHeight * kTileColumns, kTileRowBytes);
  tiles.release();
  return sums;
}

TEST(EmulatedTiles, AreTheHardwareToTheLastBit) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "this processor has no tiles for bfloat16";
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    std::vector<uint16_t> numbers(4 * kTileHeight * kTileDepth);
    for (uint16_t& bits : numbers) {
      const int kind = random_int(random, 0, 200);
      const float scale = std::exp2(float(random_int(random, -4, 4) - (seed % 4 == 0 ? 64 : 0)));
      bits = bf16_from_float(float(random.normal()) * scale);
      if (seed % 5 != 0) continue;
      if (kind == 0) bits = uint16_t(random_int(random, 0, 0x7f));  // below the normal numbers
      if (kind == 1) bits = 0x7f80;                                 // infinity
      if (kind == 2) bits = 0xffc0;                                 // not a number
      if (kind == 3) bits = 0x7f7f;                                 // the largest
    }
    const TileHeights heights{random_int(random, 1, kTileHeight), random_int(random, 1, 16)};
    const auto hardware = two_products<HardwareTiles>(numbers, heights);
    const auto emulated = two_products<EmulatedTiles>(numbers, heights);
    for (size_t i = 0; i < hardware.size(); ++i) {
      const bool nans = std::isnan(hardware[i]) && std::isnan(emulated[i]);
      ASSERT_TRUE(nans ||
                  std::bit_cast<uint32_t>(hardware[i]) == std::bit_cast<uint32_t>(emulated[i]))
          << "seed " << seed << ", " << i << ": " << hardware[i] << ", not " << emulated[i];
    }
  }
}
#endif

#if defined(__x86_64__)
TEST(EmulatedTiles, OfWholeNumbersAreTheHardwareAndItsSums) {
  EmulatedTiles emulated;
  emulated.configure({2, 1});
  uint8_t rows[2][kByteTileDepth] = {{255, 0, 0, 0, 0, 3}, {1}};
  int8_t weights[kTileGroups][kByteTileDepth] = {};
  weights[0][4] = -127;  // depth 0 of column 1
  weights[1][5] = 5;     // depth 5 of it
  int32_t sums[2][kTileColumns];
  const auto run = [&](auto& tiles) {
    tiles.template load<kRowsTile>(rows, kTileRowBytes);
    tiles.template load<kWeightsTile>(weights, kTileRowBytes);
    tiles.template clear<0>();
    tiles.template dot_bytes<0, kRowsTile, kWeightsTile>();
    tiles.template store<0>(sums, kTileRowBytes);
  };
  run(emulated);
  EXPECT_EQ(sums[0][1], -255 * 127 + 15);
  EXPECT_EQ(sums[1][1], -127);
  EXPECT_EQ(sums[0][0], 0);
  if (!has_int8_tiles()) GTEST_SKIP() << "this processor has no tiles for whole numbers";
  Random random(3);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<uint8_t> numbers(4 * kTileHeight * kTileRowBytes);
    for (uint8_t& number : numbers) number = uint8_t(random_int(random, 0, 255));
    const TileHeights heights{random_int(random, 1, kTileHeight), random_int(random, 1, 16)};
    const auto products = [&](auto tiles) {
      std::vector<int32_t> found(kTileHeight * kTileColumns, 7);
      tiles.configure(heights);
      tiles.template load<0>(numbers.data(), kTileRowBytes);
      for (size_t k = 0; k < 2; ++k) {
        const uint8_t* from = numbers.data() + 1024 * (k + 1);
        tiles.template load<kRowsTile>(from, kTileRowBytes);
        tiles.template load<kWeightsTile>(from + 1024, kTileRowBytes);
        tiles.template dot_bytes<0, kRowsTile, kWeightsTile>();
      }
      tiles.template store<0>(found.data(), kTileRowBytes);
      tiles.release();
      return found;
    };
    ASSERT_EQ(products(HardwareTiles()), products(EmulatedTiles())) << turn;
  }
}
#endif

TEST(RowTiles, OfWholeNumbersNeedNoZerosPastTheirEnds) {
  // Rows of 24 in lines of 64, which may be read to their ends.
  std::vector<int32_t> rows_read(16);
  std::iota(rows_read.begin(), rows_read.end(), 0);
  const std::vector<uint8_t> input(17 * 24 + 64);
  RowProduct product;
  product.rows = 16;
  product.input = input.data();
  product.input_stride = product.depth = 24;
  product.input_rows = rows_read.data();
  product.last_panel = 2;
  RowTiles rows;
  rows.cut(product, 1);
  EXPECT_EQ(rows.copied(), 16);
  product.readable_past_rows = true;
  rows.cut(product, 1);
  EXPECT_EQ(rows.copied(), 0);
  ASSERT_EQ(rows.tiles().size(), 1u);
  EXPECT_EQ(rows.tiles()[0].row_bytes, 24);
  rows.cut(product, 2);  // numbers that are not whole may be NaN there
  EXPECT_EQ(rows.copied(), 16);
}

TEST(Tiles, ProductsOfTheHardwareAreThoseOfItsEmulationToTheLastBit) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "this processor has no tiles for bfloat16";
  const Table &hardware = chosen_table("AMX"), emulated = table_with(emulated_amx_bf16_parts());
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const BorderedGrid grid{random_int(random, 1, 15), random_int(random, 1, 15)};
    const int depth = seed % 3 ? 32 * random_int(random, 1, 3) : random_int(random, 1, 70);
    const int columns = random_int(random, 1, 100), count = grid.height * grid.width;
    const auto input = as<uint16_t>(random_values(random, size_t(grid.rows()) * size_t(depth)));
    const auto weights = random_values(random, 9 * size_t(depth) * size_t(columns));
    const auto bias = random_values(random, size_t(columns) + 64);
    const auto before = random_values(random, size_t(count) * size_t(columns));
    const auto remainders = random_values(random, size_t(count));
    const auto neighbours = grid.neighbours();
    std::vector<int32_t> list;
    for (int i = 0; i < count; ++i) {
      if (random_int(random, 0, 3)) list.push_back(i);
    }
    struct Results {
      std::vector<float> sums, mean;
      std::vector<uint16_t> rows;
      bool operator==(const Results&) const = default;
    };
    const auto run = [&](const Table& table) {
      Arena arena(1 << 20);
      const PackedWeights packed =
          pack_weights(table, DataType::kBFloat16, weights.data(),
                       {1, columns, int64_t(depth) * columns}, 9, depth, columns, arena);
      Results results{before, before, std::vector<uint16_t>(before.size())};
      RowProduct product = grid_product(input, neighbours, list);
      product.depth = depth;
      product.input_stride = depth;
      product.weights = packed.data;
      product.bias = bias.data();
      product.last_panel = packed.panels();
      product.columns = columns;
      product.output = results.rows.data();
      product.output_stride = columns;
      product.output_rows = list.data();
      product.epilogue.relu = seed % 2;
      table.functions(DataType::kBFloat16).product(product);
      product.output = results.sums.data();
      product.epilogue.add = true;
      product.epilogue.mean = results.mean.data();
      product.epilogue.remainders = remainders.data();
      table.functions(DataType::kBFloat16).product_to_f32(product);
      return results;
    };
    ASSERT_TRUE(run(hardware) == run(emulated)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sact::kernels
