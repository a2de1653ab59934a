// Every kernel of every instruction set that this processor has, in every type, on random lists of
// rows, against the scalar form; with canaries around what is written.
#include "kernels/cpu/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/half.h"
#include "base/random.h"
#include "support/errors.h"

namespace sact::kernels {
namespace {

constexpr float kCanary = 12345.0f;

int random_int(Random& random, int low, int high) {
  return low + int(random.uniform(0, 1) * (high - low + 1) * 0.999999);
}

std::vector<float> random_values(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = float(random.normal());
  return values;
}

template <typename T>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> converted;
  for (float value : values) {
    if constexpr (sizeof(T) == sizeof(float)) {
      converted.push_back(value);
    } else {
      converted.push_back(bf16_from_float(value));
    }
  }
  return converted;
}

float number(float value) {
  return value;
}
float number(uint16_t bits) {
  return float_from_bf16(bits);
}

struct Case {
  int input_count, rows, taps, depth, columns, output_count;
  int input_gap, output_gap;  // between rows
  bool relu, add, listed, scattered;
};

Case random_case(Random& random) {
  Case c{};
  c.taps = random_int(random, 0, 2) == 0 ? 9 : 1;
  c.rows = random_int(random, 1, 40);
  c.listed = c.taps > 1 || random_int(random, 0, 1);
  c.input_count = c.listed ? random_int(random, 1, 50) : c.rows;
  c.depth = random_int(random, 1, 70);
  c.columns = random_int(random, 1, 100);
  c.scattered = random_int(random, 0, 1);
  c.output_count = c.rows + (c.scattered ? random_int(random, 0, 20) : 0);
  c.input_gap = random_int(random, 0, 3);
  c.output_gap = random_int(random, 0, 3);
  c.relu = random_int(random, 0, 1);
  c.add = random_int(random, 0, 1);
  return c;
}

using Function = void (*)(const RowProduct&, const Range&);

template <typename In, typename Out>
void compare(const Table& table, Function Table::*function, DataType type, uint64_t seed) {
  SCOPED_TRACE(std::string(table.name) + ", seed " + std::to_string(seed));
  Random random(seed);
  Case c = random_case(random);
  if (sizeof(Out) != sizeof(float)) c.add = false;
  const auto input =
      as<In>(random_values(random, size_t(c.input_count) * size_t(c.depth + c.input_gap)));
  const auto weights = random_values(random, size_t(c.taps) * size_t(c.depth) * size_t(c.columns));
  auto bias = random_values(random, size_t(c.columns));
  bias.resize(size_t(c.columns) + 64, 0.0f);
  std::vector<int32_t> input_rows, output_rows(size_t(c.output_count));
  for (int i = 0; i < c.rows * c.taps; ++i) {
    input_rows.push_back(random_int(random, 0, c.input_count - 1));
  }
  std::iota(output_rows.begin(), output_rows.end(), 0);
  for (size_t i = output_rows.size(); i > 1; --i) {
    std::swap(output_rows[i - 1], output_rows[size_t(random_int(random, 0, int(i) - 1))]);
  }
  const size_t stride = size_t(c.columns + c.output_gap);
  auto before = random_values(random, size_t(c.output_count) * stride + 8);
  for (size_t i = 0; i < before.size(); ++i) {
    if (i % stride >= size_t(c.columns) || i >= size_t(c.output_count) * stride)
      before[i] = kCanary;
  }
  auto run = [&](const Table& with) {
    const PackedWeights packed =
        pack_weights(with, type, weights.data(), c.taps, c.depth, c.columns);
    std::vector<Out> output = as<Out>(before);
    RowProduct product;
    product.input = input.data();
    product.input_stride = c.depth + c.input_gap;
    product.input_rows = c.listed ? input_rows.data() : nullptr;
    product.taps = c.taps;
    product.depth = c.depth;
    product.weights = packed.data();
    product.bias = bias.data();
    product.output = output.data();
    product.output_stride = int64_t(stride);
    product.output_rows = c.scattered ? output_rows.data() : nullptr;
    product.columns = c.columns;
    product.relu = c.relu;
    product.add = c.add;
    // In two parts each way, as threads would take it.
    const int row = c.rows / 2, panel = packed.panels() / 2;
    (with.*function)(product, {0, row, 0, packed.panels()});
    (with.*function)(product, {row, c.rows, 0, panel});
    (with.*function)(product, {row, c.rows, panel, packed.panels()});
    return output;
  };
  const std::vector<Out> expected = run(scalar_table()), found = run(table);
  const double tolerance = sizeof(Out) == sizeof(float) ? 1e-4 : 2e-2;
  int written = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const float a = number(expected[i]), b = number(found[i]);
    ASSERT_NEAR(a, b, tolerance * (1 + std::abs(a))) << "at " << i;
    written += a != number(as<Out>({before[i]})[0]);
  }
  EXPECT_GT(written, 0);
}

TEST(Kernels, ProductsEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : available_tables()) {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      compare<float, float>(*table, &Table::product_f32, DataType::kFloat32, seed);
      compare<uint16_t, uint16_t>(*table, &Table::product_bf16, DataType::kBFloat16, seed);
      compare<uint16_t, float>(*table, &Table::product_bf16_to_f32, DataType::kBFloat16, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Kernels, ScalarProductIsTheSumItSays) {
  // Two taps of depth 2, one column: 1 + (1 2).(10 20) + (3 4).(30 40).
  const float input[] = {1, 2, 3, 4}, weights[] = {10, 20, 30, 40}, bias[8] = {1};
  const int32_t rows[] = {0, 1};
  const PackedWeights packed = pack_weights(scalar_table(), DataType::kFloat32, weights, 2, 2, 1);
  float output[2] = {1000, kCanary};
  RowProduct product;
  product.input = input;
  product.input_stride = 2;
  product.input_rows = rows;
  product.taps = 2;
  product.depth = 2;
  product.weights = packed.data();
  product.bias = bias;
  product.output = output;
  product.output_stride = 1;
  product.columns = 1;
  product.add = true;
  scalar_table().product_f32(product, {0, 1, 0, 1});
  EXPECT_EQ(output[0], 1000 + 1 + 10 + 40 + 90 + 160);
  EXPECT_EQ(output[1], kCanary);
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
      scalar_table().norm_f32(norm, 0, count);
      norm.output = found.data();
      table->norm_f32(norm, 0, count);
      std::vector<uint16_t> half_expected(size, 7), half(size, 7);
      norm.output = half_expected.data();
      scalar_table().norm_bf16(norm, 0, count);
      norm.output = half.data();
      table->norm_bf16(norm, 0, count);
      for (size_t i = 0; i < size; ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-5) << table->name << ", seed " << seed;
        ASSERT_NEAR(float_from_bf16(half[i]), float_from_bf16(half_expected[i]), 0.02)
            << table->name << ", seed " << seed;
      }
    }
  }
}

TEST(Kernels, AnInstructionSetCanBeChosenByName) {
  EXPECT_STREQ(chosen_table("scalar").name, "scalar");
  EXPECT_EQ(&chosen_table(), available_tables().back());
  const std::string message = test::error_of([] { chosen_table("mmx"); });
  EXPECT_NE(message.find("scalar"), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::kernels
