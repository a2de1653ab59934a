// Every kernel of every instruction set that this processor has, in every type, on random lists of
// rows, against the scalar form; with canaries around what is written.
#include "kernels/cpu/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/half.h"
#include "base/random.h"
#include "kernels/random_rows.h"
#include "support/errors.h"

namespace sact::kernels {
namespace {

constexpr float kCanary = 12345.0f;

struct Case {
  int input_count, rows, positions, taps, depth, columns, output_count;
  int input_gap, output_gap;  // between rows
  bool relu, add, listed, scattered, bordered, mean, first_residual, keep_output;
};

Case random_case(Random& random) {
  auto coin = [&] { return random_int(random, 0, 1) == 1; };
  Case c{};
  c.taps = random_int(random, 0, 2) == 0 ? 9 : 1;
  c.rows = random_int(random, 1, 40);
  c.listed = c.taps > 1 || coin();
  c.positions = c.rows + random_int(random, 0, 10);
  c.input_count = c.listed ? random_int(random, 1, 50) : c.positions;
  c.depth = random_int(random, 1, 70);
  c.columns = random_int(random, 1, 100);
  if (c.taps > 1 && random_int(random, 0, 4) == 0) {  // deep enough to take the taps in memory
    c.depth = random_int(random, 512, 530);
    c.rows = random_int(random, 1, 110);
    c.columns = random_int(random, 1, 40);
    c.positions = c.rows;
  }
  c.bordered = c.taps > 1 && coin();
  c.scattered = coin();
  c.output_count = c.rows + (c.scattered ? random_int(random, 0, 20) : 0);
  c.input_gap = random_int(random, 0, 3);
  c.output_gap = random_int(random, 0, 3);
  c.relu = coin();
  c.add = coin();
  c.mean = c.add && coin();
  c.first_residual = coin();
  c.keep_output = c.mean && coin();
  return c;
}

using Function = void (*TypedFunctions::*)(const RowProduct&);

/// Runs one random product with a table and with the scalar one.
template <typename In, typename Out>
void compare(const Table& table, Function function, DataType type, uint64_t seed) {
  SCOPED_TRACE(std::string(table.name) + ", seed " + std::to_string(seed));
  Random random(seed);
  Case c = random_case(random);
  if (sizeof(Out) != sizeof(float)) c.add = c.mean = c.keep_output = false;
  auto numbers = random_values(random, size_t(c.input_count) * size_t(c.depth + c.input_gap));
  const int32_t zero_row = c.bordered ? random_int(random, 0, c.input_count - 1) : -1;
  if (c.bordered) {
    std::fill_n(numbers.begin() + int64_t(zero_row) * (c.depth + c.input_gap), c.depth, 0.0f);
  }
  const auto input = as<In>(numbers);
  const auto weights = random_values(random, size_t(c.taps) * size_t(c.depth) * size_t(c.columns));
  auto bias = random_values(random, size_t(c.columns));
  bias.resize(size_t(c.columns) + 64, 0.0f);
  std::vector<int32_t> input_rows;
  for (int i = 0; i < c.positions * c.taps; ++i) {
    const bool outside = c.bordered && random_int(random, 0, 2) == 0;
    input_rows.push_back(outside ? zero_row : random_int(random, 0, c.input_count - 1));
  }
  const auto list = shuffled(random, c.positions), output_rows = shuffled(random, c.output_count);
  const auto remainders = random_values(random, size_t(c.output_count));
  const size_t stride = size_t(c.columns + c.output_gap);
  auto canaried = [&] {
    auto values = random_values(random, size_t(c.output_count) * stride + 8);
    for (size_t i = 0; i < values.size(); ++i) {
      const bool gap = i % stride >= size_t(c.columns) || i >= size_t(c.output_count) * stride;
      if (gap) values[i] = kCanary;
    }
    return values;
  };
  const auto before = canaried(), mean_before = canaried();
  struct Results {
    std::vector<Out> output;
    std::vector<float> mean;
  };
  auto run = [&](const Table& with) {
    Arena arena(1 << 20);
    const WeightStrides strides{1, c.columns, int64_t(c.depth) * c.columns};
    const PackedWeights packed = pack_weights(with, type, weights.data(), strides, nullptr, c.taps,
                                              c.depth, c.columns, arena);
    Results results{as<Out>(before), mean_before};
    RowProduct product;
    product.input = input.data();
    product.input_stride = c.depth + c.input_gap;
    product.input_rows = c.listed ? input_rows.data() : nullptr;
    product.zero_row = zero_row;
    product.taps = c.taps;
    product.depth = c.depth;
    product.weights = packed.data;
    product.bias = bias.data();
    product.output = results.output.data();
    product.output_stride = int64_t(stride);
    product.columns = c.columns;
    product.relu = c.relu;
    product.add = c.add;
    product.mean = c.mean ? results.mean.data() : nullptr;
    product.remainders = remainders.data();
    product.first_residual = c.first_residual;
    product.keep_output = c.keep_output;
    // In two parts each way, as threads would take it.
    auto part = [&](int first, int last, int first_panel, int last_panel) {
      RowProduct call = product;
      call.rows = last - first;
      call.list = list.data() + first;
      if (c.scattered) {
        call.output_rows = output_rows.data() + first;
      } else {
        call.output = results.output.data() + size_t(first) * stride;
        if (call.mean) call.mean += size_t(first) * stride;
        call.remainders += first;
      }
      call.first_panel = first_panel;
      call.last_panel = last_panel;
      (with.functions(type).*function)(call);
    };
    const int row = c.rows / 2, panel = packed.panels() / 2;
    part(0, row, 0, packed.panels());
    part(row, c.rows, 0, panel);
    part(row, c.rows, panel, packed.panels());
    return results;
  };
  const Results expected = run(scalar_table()), found = run(table);
  const double tolerance = sizeof(Out) == sizeof(float) ? 2e-4 : 2e-2;
  int written = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const float a = number(expected.output[i]), b = number(found.output[i]);
    ASSERT_NEAR(a, b, tolerance * (1 + std::abs(a))) << "at " << i;
    ASSERT_NEAR(expected.mean[i], found.mean[i], 5e-4 * (1 + std::abs(expected.mean[i]))) << i;
    written += a != number(as<Out>({before[i]})[0]) || expected.mean[i] != mean_before[i];
    if (before[i] == kCanary) {
      ASSERT_EQ(b, number(as<Out>({kCanary})[0]));
      ASSERT_EQ(found.mean[i], kCanary);
    }
  }
  EXPECT_GT(written, 0);
}

TEST(Kernels, ProductsEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : available_tables()) {
    for (uint64_t seed = 1; seed <= 120; ++seed) {
      compare<float, float>(*table, &TypedFunctions::product, DataType::kFloat32, seed);
      compare<uint16_t, uint16_t>(*table, &TypedFunctions::product, DataType::kBFloat16, seed);
      compare<uint16_t, float>(*table, &TypedFunctions::product_to_f32, DataType::kBFloat16, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Kernels, DeepTapsAreTakenInMemoryOnlyWhereTheBorderIsWorthIt) {
  std::vector<int32_t> inside(9 * 10, 0), border = inside;
  for (size_t i = 0; i < 9; ++i) border[i] = 4;  // a tenth of all
  const std::vector<int32_t> list = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  RowProduct product;
  product.rows = 10;
  product.taps = 9;
  product.depth = 256;
  product.input_rows = border.data();
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.zero_row = 4;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kMemory);
  EXPECT_EQ(tap_order(product, DataType::kBFloat16), TapOrder::kRegisters);
  product.input_rows = inside.data();
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.input_rows = border.data();
  product.list = list.data();  // without the position at the border
  product.rows = 9;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
  product.list = nullptr;
  product.depth = 64;
  EXPECT_EQ(tap_order(product, DataType::kFloat32), TapOrder::kRegisters);
}

TEST(Kernels, ScalarProductIsTheSumItSays) {
  // Two taps of depth 2, one column: 1 + (1 2).(10 20) + (3 4).(30 40) = 301.
  const float input[] = {1, 2, 3, 4}, weights[] = {10, 20, 30, 40}, bias[8] = {1};
  const int32_t rows[] = {0, 1};
  Arena arena(4096);
  const PackedWeights packed =
      pack_weights(scalar_table(), DataType::kFloat32, weights, {1, 1, 2}, nullptr, 2, 2, 1, arena);
  float output[2] = {1000, kCanary}, mean[2] = {5, kCanary};
  const float remainder = 0.5f;
  RowProduct product;
  product.rows = 1;
  product.input = input;
  product.input_stride = 2;
  product.input_rows = rows;
  product.taps = 2;
  product.depth = 2;
  product.weights = packed.data;
  product.bias = bias;
  product.last_panel = 1;
  product.output = output;
  product.output_stride = 1;
  product.columns = 1;
  product.add = true;
  product.mean = mean;
  product.remainders = &remainder;
  scalar_table().functions(DataType::kFloat32).product(product);
  EXPECT_EQ(output[0], 1301);
  EXPECT_EQ(mean[0], 5 + 150.5);
  product.first_residual = true;
  product.keep_output = true;
  scalar_table().functions(DataType::kFloat32).product(product);
  EXPECT_EQ(output[0], 1301);
  EXPECT_EQ(mean[0], 1301 + 150.5);
  EXPECT_EQ(output[1], kCanary);
  EXPECT_EQ(mean[1], kCanary);
}

TEST(Kernels, PackedWeightsAreScaledByColumn) {
  const float weights[] = {1, 2, 3, 4}, scale[] = {10, 100};
  Arena arena(4096);
  // [column, depth]
  const PackedWeights packed =
      pack_weights(scalar_table(), DataType::kFloat32, weights, {2, 1, 0}, scale, 1, 2, 2, arena);
  const float* data = static_cast<const float*>(packed.data);
  const int panel = scalar_table().functions(DataType::kFloat32).panel_columns;
  EXPECT_EQ(data[0], 10);
  EXPECT_EQ(data[1], 300);
  EXPECT_EQ(data[panel], 20);
  EXPECT_EQ(data[panel + 1], 400);
  EXPECT_EQ(data[2], 0);
}

TEST(Kernels, NormsEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : available_tables()) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      Random random(seed);
      const int channels = random_int(random, 1, 90), count = random_int(random, 1, 20);
      const auto input = random_values(random, size_t(channels) * 30);
      const auto scale = random_values(random, size_t(channels));
      const auto shift = random_values(random, size_t(channels));
      std::vector<int32_t> rows;
      for (int i = 0; i < count; ++i) rows.push_back(random_int(random, 0, 29));
      RowNorm norm;
      norm.count = count;
      norm.input = input.data();
      norm.input_stride = channels;
      norm.rows = rows.data();
      norm.scale = scale.data();
      norm.shift = shift.data();
      norm.output_stride = channels + 1;
      norm.channels = channels;
      const size_t size = size_t(count) * size_t(channels + 1);
      std::vector<float> expected(size, kCanary), found(size, kCanary);
      norm.output = expected.data();
      scalar_table().functions(DataType::kFloat32).norm(norm);
      norm.output = found.data();
      table->functions(DataType::kFloat32).norm(norm);
      std::vector<uint16_t> half_expected(size, 7), half(size, 7);
      norm.output = half_expected.data();
      scalar_table().functions(DataType::kBFloat16).norm(norm);
      norm.output = half.data();
      table->functions(DataType::kBFloat16).norm(norm);
      for (size_t i = 0; i < size; ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-5) << table->name << ", seed " << seed;
        ASSERT_NEAR(float_from_bf16(half[i]), float_from_bf16(half_expected[i]), 0.02)
            << table->name << ", seed " << seed;
      }
    }
  }
}

TEST(Kernels, WithoutAScaleRowsBecomeOperandsAsTheyAre) {
  Random random(5);
  for (const Table* table : available_tables()) {
    for (const int channels : {1, 16, 37}) {
      auto input = random_values(random, 10 * size_t(channels));
      for (const uint32_t bits : kNotNumbers) {
        input[size_t(random_int(random, 0, int(input.size()) - 1))] = std::bit_cast<float>(bits);
      }
      input[0] = -std::numeric_limits<float>::infinity();
      const std::vector<int32_t> rows = {0, 7, 3, 9};
      for (const bool listed : {false, true}) {
        RowNorm norm;
        norm.count = int(rows.size());
        norm.input = input.data();
        norm.input_stride = channels;
        norm.rows = listed ? rows.data() : nullptr;
        norm.output_stride = channels + 1;
        norm.channels = channels;
        const size_t stride = size_t(channels) + 1;
        std::vector<float> full(rows.size() * stride, kCanary);
        std::vector<uint16_t> half(full.size(), 7);
        norm.output = full.data();
        table->functions(DataType::kFloat32).norm(norm);
        norm.output = half.data();
        table->functions(DataType::kBFloat16).norm(norm);
        for (size_t i = 0; i < full.size(); ++i) {
          const size_t row = listed ? size_t(rows[i / stride]) : i / stride, c = i % stride;
          if (c == size_t(channels)) {
            ASSERT_EQ(full[i], kCanary);
            ASSERT_EQ(half[i], 7);
            continue;
          }
          const float value = input[row * size_t(channels) + c];
          ASSERT_EQ(std::bit_cast<uint32_t>(full[i]), std::bit_cast<uint32_t>(value));
          if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(float_from_bf16(half[i]))) << table->name;
          } else {
            ASSERT_EQ(half[i], bf16_from_float(value)) << table->name;
          }
        }
      }
    }
  }
}

TEST(Kernels, SixteenBitsAreRoundedLikeTheScalarForm) {
  // Halves between two neighbours, both ways, and numbers just beside them.
  std::vector<float> input;
  for (uint32_t bits : {0x3f808000u, 0x3f818000u, 0x3f808001u, 0x3f807fffu, 0x7f7f0000u,
                        0x00018000u, 0x42f7ffffu, 0x00000000u}) {
    for (int repeat = 0; repeat < 4; ++repeat) input.push_back(std::bit_cast<float>(bits));
  }
  const int channels = int(input.size());
  const std::vector<float> scale(input.size(), 1.0f), shift(input.size(), 0.0f);
  for (const Table* table : available_tables()) {
    std::vector<uint16_t> output(input.size());
    RowNorm norm;
    norm.count = 1;
    norm.input = input.data();
    norm.scale = scale.data();
    norm.shift = shift.data();
    norm.output = output.data();
    norm.channels = channels;
    table->functions(DataType::kBFloat16).norm(norm);
    for (size_t i = 0; i < input.size(); ++i) {
      if (table->functions(DataType::kBFloat16).native && input[i] < 1e-37f)
        continue;  // the instruction flushes these
      EXPECT_EQ(output[i], bf16_from_float(input[i])) << table->name << ", " << input[i];
    }
  }
}

TEST(Kernels, ScoresAndSumsAndMaximaEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : available_tables()) {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(std::string(table->name) + ", seed " + std::to_string(seed));
      Random random(seed);
      const int channels = random_int(random, 1, 150), all = random_int(random, 1, 30);
      const int count = random_int(random, 0, all), stride = channels + random_int(random, 0, 3);
      const auto input = random_values(random, size_t(all) * size_t(stride));
      const auto weights = random_values(random, kScoreTaps * size_t(channels));
      const auto shifts = random_values(random, kScoreStride);
      const auto rows = shuffled(random, all);
      std::vector<float> values[2], sums[2], largest[2];
      std::vector<int32_t> neighbours;
      for (int i = 0; i < count; ++i) {
        for (int tap = 0; tap < 9; ++tap) {  // the centre is always there
          const bool inside = tap == 4 || random_int(random, 0, 1);
          neighbours.push_back(inside ? random_int(random, 0, all - 1) : all);
        }
      }
      for (int which : {0, 1}) {
        const Table& with = which == 0 ? scalar_table() : *table;
        values[which].assign(size_t(all) * kScoreStride, kCanary);
        sums[which].assign(size_t(channels) + 1, 2.0f);
        with.scores({count, input.data(), stride, rows.data(), weights.data(), shifts.data(),
                     channels, values[which].data(), seed % 3 ? sums[which].data() : nullptr});
        with.sum({count, input.data(), stride, seed % 2 ? rows.data() : nullptr, channels,
                  sums[which].data()});
        largest[which].assign(size_t(count) * size_t(channels + 1), kCanary);
        with.maximum({count, input.data(), stride, neighbours.data(), all, channels,
                      largest[which].data(), channels + 1});
      }
      for (size_t i = 0; i < values[0].size(); ++i) {
        if (i % kScoreStride >= kScoreTaps && values[1][i] != kCanary) {
          const bool written = values[0][i / kScoreStride * kScoreStride] != kCanary;
          ASSERT_TRUE(written) << "a row that was not asked for";
          continue;
        }
        ASSERT_NEAR(values[0][i], values[1][i], 2e-4 * (1 + std::abs(values[0][i])));
      }
      for (size_t c = 0; c < sums[0].size(); ++c) ASSERT_NEAR(sums[0][c], sums[1][c], 1e-4);
      ASSERT_EQ(sums[1].back(), 2.0f);
      ASSERT_EQ(largest[0], largest[1]);
    }
  }
}

TEST(Kernels, NormsKeepWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const size_t channels = 37;  // whole vectors and a rest
  const std::vector<float> scale(channels, 1.0f), shift(channels, 0.0f);
  for (const Table* table : available_tables()) {
    for (const uint32_t bits : kNotNumbers) {
      std::vector<float> input(channels, std::bit_cast<float>(bits)), output(channels);
      input[1] = input[36] = kInfinity;
      std::vector<uint16_t> half(channels);
      RowNorm norm;
      norm.count = 1;
      norm.input = input.data();
      norm.scale = scale.data();
      norm.shift = shift.data();
      norm.channels = int(channels);
      norm.output = output.data();
      table->functions(DataType::kFloat32).norm(norm);
      norm.output = half.data();
      table->functions(DataType::kBFloat16).norm(norm);
      for (size_t c = 0; c < channels; ++c) {
        const float in_half = float_from_bf16(half[c]);
        if (input[c] == kInfinity) {
          EXPECT_EQ(output[c], kInfinity) << table->name;
          EXPECT_EQ(in_half, kInfinity) << table->name;
        } else {
          EXPECT_TRUE(std::isnan(output[c])) << table->name << ", channel " << c;
          EXPECT_TRUE(std::isnan(in_half)) << table->name << ", channel " << c;
        }
      }
    }
  }
}

TEST(Kernels, ReluOfAProductKeepsWhatIsNotFinite) {
  // Infinity times 0 is not a number.
  constexpr int kColumns = 37, kRows = 13;
  const std::vector<float> weights(kColumns, 0.0f), bias(kColumns + 64, 1.0f);
  const std::vector<float> input(kRows, std::numeric_limits<float>::infinity());
  const auto half_input = as<uint16_t>(input);
  for (const Table* table : available_tables()) {
    for (const DataType type : {DataType::kFloat32, DataType::kBFloat16}) {
      Arena arena(1 << 16);
      const PackedWeights packed =
          pack_weights(*table, type, weights.data(), {1, 1, 1}, nullptr, 1, 1, kColumns, arena);
      const bool full = type == DataType::kFloat32;
      std::vector<float> output(kRows * kColumns);
      std::vector<uint16_t> half(output.size());
      RowProduct product;
      product.rows = kRows;
      product.input = full ? static_cast<const void*>(input.data()) : half_input.data();
      product.input_stride = 1;
      product.depth = 1;
      product.weights = packed.data;
      product.bias = bias.data();
      product.last_panel = packed.panels();
      product.columns = kColumns;
      product.output = full ? static_cast<void*>(output.data()) : half.data();
      product.output_stride = kColumns;
      product.relu = true;
      table->functions(type).product(product);
      for (size_t i = 0; i < output.size(); ++i) {
        EXPECT_TRUE(std::isnan(full ? output[i] : float_from_bf16(half[i])))
            << table->name << ", " << name_of(type) << ", " << i;
      }
    }
  }
}

TEST(Kernels, TheMaximumOfANumberAndNanIsNan) {
  const size_t channels = 37;
  const int32_t rows[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (const Table* table : available_tables()) {
    for (size_t tap = 0; tap < 9; ++tap) {
      for (const uint32_t bits : kNotNumbers) {
        std::vector<float> input(9 * channels, 1.0f), output(channels);
        std::fill_n(input.begin() + long(tap * channels), channels, std::bit_cast<float>(bits));
        table->maximum({1, input.data(), int64_t(channels), rows, 9, int(channels), output.data(),
                        int64_t(channels)});
        for (const float value : output) EXPECT_TRUE(std::isnan(value)) << table->name << tap;
      }
    }
  }
}

TEST(Kernels, WhatIsOutsideOfTheImageIsNoPartOfItsMaximum) {
  // Below zero everywhere, so that the row of zeros would win.
  constexpr int kOutside = 3, kChannels = 37;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> input(4 * kChannels, 0.0f);
  for (size_t row = 0; row < 3; ++row) {
    std::fill_n(input.begin() + long(row * kChannels), kChannels, -1.0f - float(row));
  }
  std::vector<int32_t> rows(4 * 9, kOutside);
  rows[8] = 1;                // the last of a window alone
  rows[9] = rows[9 + 1] = 2;  // the first ones
  std::fill_n(rows.begin() + 18, 9, 0);
  const float expected[] = {-2, -3, -1, -kInfinity};
  for (const Table* table : available_tables()) {
    std::vector<float> output(4 * kChannels, kCanary);
    table->maximum(
        {4, input.data(), kChannels, rows.data(), kOutside, kChannels, output.data(), kChannels});
    for (size_t i = 0; i < output.size(); ++i) {
      EXPECT_EQ(output[i], expected[i / kChannels]) << table->name << ", " << i;
    }
  }
}

TEST(Kernels, AnInstructionSetCanBeChosenByName) {
  for (const Table* table : available_tables()) EXPECT_EQ(&chosen_table(table->name), table);
  EXPECT_EQ(&chosen_table("Sca-lar"), &scalar_table());
  EXPECT_EQ(&chosen_table(), available_tables().back());
  const std::string message = test::error_of([] { chosen_table("mmx"); });
  EXPECT_NE(message.find("scalar"), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::kernels
