// 3x3 convolutions over tiles, of every instruction set and type, against the direct scalar
// product: shapes, sets of positions, epilogues; with canaries around what is written.
#include "kernels/cpu/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"
#include "kernels/tested_tables.h"

namespace sact::kernels {
namespace {

enum class Mask { kAll, kBlob, kRandom, kOne };
constexpr const char* kMaskNames[] = {"all", "blob", "random", "one"};

struct Case {
  int images, height, width, depth, columns;
  bool relu = false, add = false, mean = false, first_residual = false, mean_only = false;
  DataType type = DataType::kFloat32;
  bool to_f32 = true;  // outputs have 32 bits, as all that residuals are added to

  DataType output_type() const { return to_f32 ? DataType::kFloat32 : type; }
};

/// Rounding against the largest output. In 32 bits 2x2 is as exact as the direct form and 4x4 loses
/// a digit; in 16 bits transformed inputs and weights are rounded.
double tolerance(const Case& c, int side) {
  if (c.type == DataType::kBFloat16) return 0.03;
  return side == 2 ? 3e-6 : 3e-5;
}

/// Tiles of a type on one instruction set against those on another: sums in another order, and now
/// and then a transformed number rounded to the other side.
double tolerance_between_tables(const Case& c, int side) {
  if (c.type != DataType::kBFloat16) return tolerance(c, side);
  return c.to_f32 ? 5e-4 : 5e-3;
}

/// Floats as numbers of a type, and back.
std::vector<std::byte> stored(DataType type, const std::vector<float>& values) {
  const Storage& storage = operand_type(type).rows;
  std::vector<std::byte> bytes(values.size() * size_t(storage.bytes));
  storage.store(values.data(), int64_t(values.size()), bytes.data());
  return bytes;
}

std::vector<float> floats(DataType type, const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / size_t(operand_type(type).rows.bytes));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = type == DataType::kFloat32
                    ? reinterpret_cast<const float*>(bytes.data())[i]
                    : float_from_bf16(reinterpret_cast<const uint16_t*>(bytes.data())[i]);
  }
  return values;
}

std::vector<uint8_t> mask_of(Mask mask, const Case& c, Random& random) {
  std::vector<uint8_t> wanted(size_t(c.images * c.height * c.width));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int y = int(i) / c.width % c.height, x = int(i) % c.width;
    const bool inside = y > c.height / 4 && x < c.width / 2;
    wanted[i] = mask == Mask::kAll || (mask == Mask::kBlob && inside) ||
                (mask == Mask::kRandom && random_int(random, 0, 3) == 0);
  }
  wanted.back() = 1;  // never nothing
  return wanted;
}

/// The rows of a position's window; outside of the image the row after the last.
std::vector<int32_t> windows(const Case& c) {
  std::vector<int32_t> rows;
  const int32_t outside = c.images * c.height * c.width;
  for (int32_t p = 0; p < outside; ++p) {
    const int x = p % c.width, y = p / c.width % c.height, first = p - y * c.width - x;
    for (int tap = 0; tap < 9; ++tap) {
      const int v = y + tap / 3 - 1, u = x + tap % 3 - 1;
      const bool inside = v >= 0 && v < c.height && u >= 0 && u < c.width;
      rows.push_back(inside ? first + v * c.width + u : outside);
    }
  }
  return rows;
}

/// What a convolution is run with, the same for all tables.
struct Numbers {
  std::vector<uint8_t> wanted, present;
  std::vector<int32_t> windows, list, tiles;
  std::vector<float> weights, bias, remainders, output, mean;  // output as its type can store it
  std::vector<std::byte> input;
  int64_t input_stride = 0, output_stride = 0;

  Numbers(const Case& c, Mask mask, int side, uint64_t seed) {
    Random random(seed);
    const int positions = c.images * c.height * c.width;
    wanted = mask_of(mask, c, random);
    windows = kernels::windows(c);
    present.resize(size_t(positions) + 1);
    for (int32_t p = 0; p < positions; ++p) {
      if (!wanted[size_t(p)]) continue;
      list.push_back(p);
      for (int tap = 0; tap < 9; ++tap) present[size_t(windows[size_t(p * 9 + tap)])] = 1;
    }
    input_stride = c.depth + 3;
    output_stride = c.columns + 2;
    std::vector<float> values = random_values(random, size_t((positions + 1) * input_stride));
    // What is not there must not be read; after the last row there are zeros.
    for (int32_t p = 0; p < positions; ++p) {
      if (present[size_t(p)]) continue;
      std::fill_n(values.begin() + p * input_stride, c.depth,
                  std::numeric_limits<float>::quiet_NaN());
    }
    std::fill_n(values.begin() + positions * input_stride, c.depth, 0.0f);
    input = stored(c.type, values);
    weights = random_values(random, size_t(9 * c.depth * c.columns));
    bias = random_values(random, size_t(c.columns));
    bias.resize(size_t(c.columns) + 64);
    remainders = random_values(random, size_t(positions));
    remainders[0] = remainders.back() = 1;
    output =
        floats(c.output_type(),
               stored(c.output_type(), random_values(random, size_t(positions * output_stride))));
    mean = random_values(random, output.size());
    TileConvolution all;
    all.grid = {c.images, c.height, c.width, side};
    all.wanted = wanted.data();
    for (int tile = 0; tile < all.grid.count(); ++tile) {
      TileOutput outputs[16];
      if (wanted_outputs(all, tile, outputs) > 0) tiles.push_back(tile);
    }
  }
};

struct Outputs {
  std::vector<std::byte> output;
  std::vector<float> mean;
};

RowProduct product_of(const Case& c, const Numbers& numbers, const PackedWeights& packed,
                      Outputs& outputs) {
  RowProduct product;
  product.input = numbers.input.data();
  product.input_stride = numbers.input_stride;
  product.zero_row = c.images * c.height * c.width;
  product.taps = packed.taps;
  product.depth = c.depth;
  product.weights = packed.data;
  product.bias = numbers.bias.data();
  product.last_panel = packed.panels();
  product.columns = c.columns;
  product.output = outputs.output.data();
  product.output_stride = numbers.output_stride;
  product.epilogue = {c.relu,
                      c.add,
                      c.mean ? outputs.mean.data() : nullptr,
                      numbers.remainders.data(),
                      c.first_residual,
                      c.mean_only};
  return product;
}

PackedWeights packed_for(const Table& table, const Case& c, const Numbers& numbers, Arena& arena) {
  return pack_weights(table, c.type, numbers.weights.data(), {int64_t(c.depth) * 9, 9, 1}, 9,
                      c.depth, c.columns, arena);
}

Outputs direct(const Case& c, const Numbers& numbers) {
  Arena arena(1 << 20);
  Outputs outputs{stored(c.output_type(), numbers.output), numbers.mean};
  const PackedWeights packed = packed_for(scalar_table(), c, numbers, arena);
  RowProduct product = product_of(c, numbers, packed, outputs);
  product.rows = int(numbers.list.size());
  product.input_rows = numbers.windows.data();
  product.list = product.output_rows = numbers.list.data();
  const TypedFunctions& functions = scalar_table().functions(c.type);
  (c.to_f32 ? functions.product_to_f32 : functions.product)(product);
  return outputs;
}

/// In two parts each way, as threads would take it.
Outputs over_tiles(const Table& table, const Case& c, const Numbers& numbers, int side) {
  const TileFunctions& functions = table.functions(c.type).tiles;
  const auto multiply = c.to_f32 ? functions.product_to_f32 : functions.product;
  Arena arena(1 << 20);
  Outputs outputs{stored(c.output_type(), numbers.output), numbers.mean};
  const PackedWeights packed = packed_for(table, c, numbers, arena);
  std::vector<std::byte> weights(size_t(transformed_bytes(packed, side)));
  const int middle = packed.panels() / 2;
  transform_weights(packed, side, 0, middle, weights.data());
  transform_weights(packed, side, middle, packed.panels(), weights.data());
  TileConvolution call;
  call.grid = {c.images, c.height, c.width, side};
  call.tiles = numbers.tiles.data();
  call.present = numbers.present.data();
  call.wanted = numbers.wanted.data();
  call.tile_stride = padded_depth(c.depth, functions.depth_step) + 1;
  const int count = int(numbers.tiles.size());
  call.product_stride = call.tile_stride * count + 1;
  std::vector<std::byte> transformed = stored(
      c.type, std::vector<float>(size_t(call.product_stride * call.grid.products()) + 1, kCanary));
  call.transformed = transformed.data();
  call.product = product_of(c, numbers, transformed_weights(packed, side, weights.data()), outputs);
  const auto part = [&](int first, int last, int first_panel, int last_panel) {
    TileConvolution mine = call;
    mine.first = first;
    mine.last = last;
    mine.product.first_panel = first_panel;
    mine.product.last_panel = last_panel;
    return mine;
  };
  functions.transform(part(0, count / 3, 0, 0));
  functions.transform(part(count / 3, count, 0, 0));
  multiply(part(0, count / 2, 0, packed.panels()));
  multiply(part(count / 2, count, 0, middle));
  multiply(part(count / 2, count, middle, packed.panels()));
  const std::vector<float> after = floats(c.type, transformed);
  for (int tile = 0; tile < count; ++tile) {  // rows have a gap after them
    EXPECT_EQ(after[size_t((tile + 1) * call.tile_stride - 1)], after.back());
  }
  EXPECT_EQ(after.back(), floats(c.type, stored(c.type, {kCanary}))[0]);
  return outputs;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& right, double allowed) {
  double largest = 0;
  for (const float value : right) largest = std::max(largest, double(std::abs(value)));
  for (size_t i = 0; i < right.size(); ++i) {
    ASSERT_NEAR(found[i], right[i], allowed * largest) << "at " << i;
  }
}

void compare(const Table& table, const Case& c, Mask mask, int side, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << table.name << ", tiles of " << side << ", " << c.images
                                  << " of " << c.height << "x" << c.width << "x" << c.depth
                                  << " to " << c.columns << ", " << name_of(c.type)
                                  << (c.to_f32 ? " to f32" : "")
                                  << ", positions: " << kMaskNames[int(mask)] << ", seed " << seed);
  const Numbers numbers(c, mask, side, seed);
  const Outputs right = direct(c, numbers), found = over_tiles(table, c, numbers, side);
  const std::vector<float> output = floats(c.output_type(), found.output);
  expect_near(output, floats(c.output_type(), right.output), tolerance(c, side));
  expect_near(found.mean, right.mean, tolerance(c, side));
  const Outputs plain = over_tiles(scalar_table(), c, numbers, side);
  expect_near(output, floats(c.output_type(), plain.output), tolerance_between_tables(c, side));
  expect_near(found.mean, plain.mean, tolerance_between_tables(c, side));
  for (size_t i = 0; i < output.size(); ++i) {  // what nobody asked for stays to the bit
    const size_t row = i / size_t(numbers.output_stride),
                 column = i % size_t(numbers.output_stride);
    if (numbers.wanted[row] && column < size_t(c.columns)) continue;
    ASSERT_EQ(output[i], numbers.output[i]);
    ASSERT_EQ(found.mean[i], numbers.mean[i]);
  }
}

/// The tables that have tiles of a type.
std::vector<const Table*> tables_with_tiles(DataType type) {
  std::vector<const Table*> tables;
  for (const Table* table : tested_tables()) {
    if (table->functions(type).tiles.product) tables.push_back(table);
  }
  EXPECT_FALSE(tables.empty());
  return tables;
}

/// Sides of tiles that a type has.
std::vector<int> sides_of(DataType type) {
  std::vector<int> sides;
  for (const int side : kTileSides) {
    if (side <= operand_type(type).largest_tile) sides.push_back(side);
  }
  return sides;
}

constexpr DataType kTiledTypes[] = {DataType::kFloat32, DataType::kBFloat16};

TEST(Winograd, TilesGiveWhatTheDirectProductGivesOnEveryInstructionSet) {
  const Case shapes[] = {{1, 1, 1, 1, 1},    {1, 4, 4, 8, 8},     {2, 7, 7, 64, 48},
                         {1, 14, 9, 33, 70}, {3, 5, 13, 16, 100}, {1, 19, 32, 40, 32},
                         {1, 2, 61, 5, 3}};
  for (const DataType type : kTiledTypes) {
    for (const Table* table : tables_with_tiles(type)) {
      for (Case shape : shapes) {
        shape.type = type;
        for (const Mask mask : {Mask::kAll, Mask::kBlob, Mask::kRandom, Mask::kOne}) {
          for (const int side : sides_of(type)) {
            shape.to_f32 = type == DataType::kFloat32 || mask == Mask::kBlob;
            compare(*table, shape, mask, side, 1);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Winograd, SumsOfTilesGoThroughEveryEpilogue) {
  Random random(2);
  const auto coin = [&] { return random_int(random, 0, 1) == 1; };
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    const DataType type = kTiledTypes[seed % 2];
    const std::vector<int> sides = sides_of(type);
    for (const Table* table : tables_with_tiles(type)) {
      Case c{random_int(random, 1, 2), random_int(random, 1, 10), random_int(random, 1, 10),
             random_int(random, 1, 40), random_int(random, 1, 70)};
      c.relu = coin();
      c.add = coin();
      c.mean = c.add && coin();
      c.first_residual = coin();
      c.mean_only = c.mean && coin();
      c.type = type;
      c.to_f32 = type == DataType::kFloat32 || c.add || coin();
      compare(*table, c, coin() ? Mask::kRandom : Mask::kBlob, sides[seed / 2 % sides.size()],
              seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Winograd, AWindowOfOnesOverOnesCountsItsTaps) {
  for (const int side : kTileSides) {
    const TileTransforms& t = tile_transforms(side);
    const int inputs = side + 2;
    for (int output = 0; output < side; ++output) {
      double sum = 0;  // along one line: outputs' . (weights of ones * inputs of ones)
      for (int i = 0; i < inputs; ++i) {
        double x = 0, w = 0;
        for (int j = 0; j < inputs; ++j) x += t.inputs[i][j];
        for (int j = 0; j < 3; ++j) w += t.weights[i][j];
        sum += t.outputs[output][i] * x * w;
      }
      EXPECT_NEAR(sum, 3, 1e-12);
    }
  }
}

TEST(Winograd, WhatIsNotFiniteStaysSo) {
  Case c{1, 6, 6, 4, 5, true};
  for (const DataType type : kTiledTypes) {
    c.type = type;
    const std::vector<std::byte> infinity = stored(type, {std::numeric_limits<float>::infinity()});
    for (const Table* table : tables_with_tiles(type)) {
      for (const int side : sides_of(type)) {
        Numbers numbers(c, Mask::kAll, side, 3);
        std::copy(infinity.begin(), infinity.end(), numbers.input.begin());
        const Outputs found = over_tiles(*table, c, numbers, side);
        EXPECT_FALSE(std::isfinite(floats(c.output_type(), found.output)[0]))
            << table->name << ", " << name_of(type) << ", tiles of " << side;
      }
    }
  }
}

}  // namespace
}  // namespace sact::kernels
