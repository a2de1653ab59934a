// Products of every instruction set that this processor has, in every type, on random lists of
// rows, against the scalar form; with canaries around what is written.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"
#include "kernels/tested_tables.h"

namespace sact::kernels {
namespace {

struct Case {
  int input_count, rows, positions, taps, depth, columns, output_count;
  int input_gap, output_gap;  // between rows
  bool relu, add, listed, scattered, bordered, mean, first_residual, mean_only;
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
  c.mean_only = c.mean && coin();
  return c;
}

/// What sums of whole numbers are multiplied with, or weights of 16 bits; results shall be of the
/// size of 1, or of 100 where they are whole numbers again.
std::vector<float> factors_of(const PackedWeights& packed) {
  std::vector<float> factors;
  if (!packed.scales) return factors;
  const bool whole_numbers = packed.type->type == DataType::kInt8;
  for (int i = 0; i < packed.panels() * packed.panel_columns; ++i) {
    factors.push_back(packed.scales[i] * (whole_numbers ? 0.07f : 1.0f));
  }
  return factors;
}

using Function = void (*TypedFunctions::*)(const RowProduct&);

/// The weights times the scales of their columns, which are the last dimension.
std::vector<float> scaled(std::vector<float> weights, const std::vector<float>& scales) {
  for (size_t i = 0; i < weights.size(); ++i) weights[i] *= scales[i % scales.size()];
  return weights;
}

/// Runs one random product with a table and with the scalar one.
template <typename In, typename Out>
void compare(const Table& table, Function function, DataType type, uint64_t seed,
             WeightStorage stored = WeightStorage::kOperand) {
  SCOPED_TRACE(std::string(table.name) + ", seed " + std::to_string(seed));
  Random random(seed);
  Case c = random_case(random);
  if (sizeof(Out) != sizeof(float)) c.add = c.mean = c.mean_only = false;
  auto numbers = random_values(random, size_t(c.input_count) * size_t(c.depth + c.input_gap));
  const int32_t zero_row = c.bordered ? random_int(random, 0, c.input_count - 1) : -1;
  if (c.bordered) {
    std::fill_n(numbers.begin() + int64_t(zero_row) * (c.depth + c.input_gap), c.depth, 0.0f);
  }
  const auto input = as<In>(numbers);
  auto weights = random_values(random, size_t(c.taps) * size_t(c.depth) * size_t(c.columns));
  const auto scales = random_values(random, size_t(c.columns));
  for (float& weight : weights) weight = stored_value(weight, stored);
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
  auto run = [&](const Table& with, const std::vector<float>& numbers, WeightStorage storage) {
    Arena arena(1 << 20);
    const WeightStrides strides{1, c.columns, int64_t(c.depth) * c.columns};
    const PackedWeights packed = pack_weights(
        operand_type(type), with.functions(type).panel_layout(),
        {numbers.data(), strides, c.taps, c.depth, c.columns, storage, scales.data()}, arena);
    Results results{as<Out>(before), mean_before};
    const std::vector<float> factors = factors_of(packed);
    RowProduct product;
    product.stored = packed.stored;
    product.scales = factors.data();
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
    product.epilogue.relu = c.relu;
    product.epilogue.add = c.add;
    product.epilogue.mean = c.mean ? results.mean.data() : nullptr;
    product.epilogue.remainders = remainders.data();
    product.epilogue.first_residual = c.first_residual;
    product.epilogue.mean_only = c.mean_only;
    // In two parts each way, as threads would take it.
    auto part = [&](int first, int last, int first_panel, int last_panel) {
      RowProduct call = product;
      call.rows = last - first;
      call.list = list.data() + first;
      if (c.scattered) {
        call.output_rows = output_rows.data() + first;
      } else {
        call.output = results.output.data() + size_t(first) * stride;
        if (call.epilogue.mean) call.epilogue.mean += size_t(first) * stride;
        call.epilogue.remainders += first;
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
  const Results expected = run(scalar_table(), weights, stored);
  const Results found = run(table, weights, stored);
  if (stored != WeightStorage::kOperand) {  // to the bit what 32 bits give
    const Results full = run(table, scaled(weights, scales), WeightStorage::kOperand);
    ASSERT_EQ(full.output, found.output);
    ASSERT_EQ(full.mean, found.mean);
  }
  // Whole numbers have the same sums in any order.
  const bool exact = type == DataType::kInt8;
  const double tolerance = exact ? 0 : sizeof(Out) == sizeof(float) ? 2e-4 : 2e-2;
  const double mean_tolerance = exact ? 0 : 5e-4;
  int written = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const float a = number(expected.output[i]), b = number(found.output[i]);
    ASSERT_NEAR(a, b, tolerance * (1 + std::abs(a))) << "at " << i;
    ASSERT_NEAR(expected.mean[i], found.mean[i], mean_tolerance * (1 + std::abs(expected.mean[i])))
        << i;
    written += a != number(as<Out>({before[i]})[0]) || expected.mean[i] != mean_before[i];
    if (before[i] == kCanary) {
      ASSERT_EQ(b, number(as<Out>({kCanary})[0]));
      ASSERT_EQ(found.mean[i], kCanary);
    }
  }
  EXPECT_GT(written, 0);
}

TEST(Product, ProductsEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : tested_tables()) {
    for (uint64_t seed = 1; seed <= 120; ++seed) {
      for (const WeightStorage stored :
           {WeightStorage::kOperand, WeightStorage::kBFloat16, WeightStorage::kFloat16}) {
        compare<float, float>(*table, &TypedFunctions::product, DataType::kFloat32, seed, stored);
      }
      compare<uint16_t, uint16_t>(*table, &TypedFunctions::product, DataType::kBFloat16, seed);
      compare<uint16_t, float>(*table, &TypedFunctions::product_to_f32, DataType::kBFloat16, seed);
      compare<uint8_t, uint8_t>(*table, &TypedFunctions::product, DataType::kInt8, seed);
      compare<uint8_t, float>(*table, &TypedFunctions::product_to_f32, DataType::kInt8, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Product, SumsOfTheLargestWholeNumbersAreExact) {
  // Two products of 8 bits do not fit 16, as which some instructions add them; and 512 * 9 of the
  // largest still fit the 24 bits of a float times 2.
  constexpr int kDepth = 512, kTaps = 9, kColumns = 64, kRows = 13;
  const std::vector<uint8_t> input(kDepth, 255);
  const std::vector<int32_t> rows(kRows * kTaps, 0);
  for (const int odd_sign : {1, -1}) {  // of the weights of odd depths
    std::vector<float> weights(size_t(kTaps) * kDepth * kColumns);
    for (size_t i = 0; i < weights.size(); ++i) {
      const bool odd = i / kColumns % 2 == 1, negative_column = i % 2 == 1;
      weights[i] = float(127 * (odd ? odd_sign : 1) * (negative_column ? -1 : 1));
    }
    for (const Table* table : tested_tables()) {
      Arena arena(1 << 20);
      const PackedWeights packed =
          pack_weights(*table, DataType::kInt8, weights.data(), {1, kColumns, kDepth * kColumns},
                       kTaps, kDepth, kColumns, arena);
      const std::vector<float> bias(kColumns + 64, 0.0f), scales(kColumns + 64, 1.0f);
      std::vector<float> output(kRows * kColumns);
      RowProduct product;
      product.rows = kRows;
      product.input = input.data();
      product.input_stride = kDepth;
      product.input_rows = rows.data();
      product.taps = kTaps;
      product.depth = kDepth;
      product.weights = packed.data;
      product.bias = bias.data();
      product.scales = scales.data();
      product.last_panel = packed.panels();
      product.columns = kColumns;
      product.output = output.data();
      product.output_stride = kColumns;
      table->functions(DataType::kInt8).product_to_f32(product);
      const int64_t sum = odd_sign > 0 ? int64_t(kTaps) * kDepth * 255 * 127 : 0;
      for (size_t i = 0; i < output.size(); ++i) {
        ASSERT_EQ(output[i], float(i % 2 ? -sum : sum)) << table->name << ", " << i;
      }
    }
  }
}

TEST(Product, WholeNumbersAreRoundedToTheNearestAndCutOffAtTheirEnds) {
  // One depth: the sum is 1 * 127, times the scale.
  const uint8_t input = 1;
  const std::pair<float, int> cases[] = {{0.4999f, 0},
                                         {0.5f, 0},
                                         {1.5f, 2},
                                         {2.5f, 2},
                                         {254.4f, 254},
                                         {255.5f, 255},
                                         {1e30f, 255},
                                         {-3.0f, 0},
                                         {std::numeric_limits<float>::quiet_NaN(), 0},
                                         {std::numeric_limits<float>::infinity(), 255}};
  constexpr int kColumns = 40;
  const std::vector<float> weights(kColumns, 127.0f);
  for (const Table* table : tested_tables()) {
    for (const auto& [value, whole] : cases) {
      Arena arena(1 << 16);
      const PackedWeights packed =
          pack_weights(*table, DataType::kInt8, weights.data(), {1, 1, 1}, 1, 1, kColumns, arena);
      const std::vector<float> bias(kColumns + 64, value), scales(kColumns + 64, 0.0f);
      std::vector<uint8_t> output(kColumns, 9);
      RowProduct product;
      product.rows = 1;
      product.input = &input;
      product.input_stride = product.depth = 1;
      product.weights = packed.data;
      product.bias = bias.data();
      product.scales = scales.data();
      product.last_panel = packed.panels();
      product.columns = kColumns;
      product.output = output.data();
      product.output_stride = kColumns;
      product.epilogue.relu = true;
      table->functions(DataType::kInt8).product(product);
      for (const uint8_t found : output) EXPECT_EQ(found, whole) << table->name << ", " << value;
    }
  }
}

TEST(Product, ScalarProductIsTheSumItSays) {
  // Two taps of depth 2, one column: 1 + (1 2).(10 20) + (3 4).(30 40) = 301.
  const float input[] = {1, 2, 3, 4}, weights[] = {10, 20, 30, 40}, bias[8] = {1};
  const int32_t rows[] = {0, 1};
  Arena arena(4096);
  const PackedWeights packed =
      pack_weights(scalar_table(), DataType::kFloat32, weights, {1, 1, 2}, 2, 2, 1, arena);
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
  product.epilogue.add = true;
  product.epilogue.mean = mean;
  product.epilogue.remainders = &remainder;
  scalar_table().functions(DataType::kFloat32).product(product);
  EXPECT_EQ(output[0], 1301);
  EXPECT_EQ(mean[0], 5 + 150.5);
  product.epilogue.first_residual = true;
  product.epilogue.mean_only = true;
  scalar_table().functions(DataType::kFloat32).product(product);
  EXPECT_EQ(output[0], 1301);
  EXPECT_EQ(mean[0], 1301 + 150.5);
  EXPECT_EQ(output[1], kCanary);
  EXPECT_EQ(mean[1], kCanary);
}

TEST(Product, ReluOfAProductKeepsWhatIsNotFinite) {
  // Infinity times 0 is not a number.
  constexpr int kColumns = 37, kRows = 13;
  const std::vector<float> weights(kColumns, 0.0f), bias(kColumns + 64, 1.0f);
  const std::vector<float> input(kRows, std::numeric_limits<float>::infinity());
  const auto half_input = as<uint16_t>(input);
  for (const Table* table : tested_tables()) {
    for (const DataType type : {DataType::kFloat32, DataType::kBFloat16}) {
      Arena arena(1 << 16);
      const PackedWeights packed =
          pack_weights(*table, type, weights.data(), {1, 1, 1}, 1, 1, kColumns, arena);
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
      product.epilogue.relu = true;
      table->functions(type).product(product);
      for (size_t i = 0; i < output.size(); ++i) {
        EXPECT_TRUE(std::isnan(full ? output[i] : float_from_bf16(half[i])))
            << table->name << ", " << name_of(type) << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sact::kernels
