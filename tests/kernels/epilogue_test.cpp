// What becomes of finished sums, on every instruction set and in every type. All numbers are small
// integers and halves, so that sums are exact in any order and results can be compared by bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"
#include "kernels/tested_tables.h"

namespace sact::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Epilogues {
  bool relu, add, mean, first_residual, mean_only;
};

std::vector<Epilogues> all_epilogues() {
  std::vector<Epilogues> all;
  for (const bool relu : {false, true}) {
    all.push_back({relu, false, false, false, false});
    all.push_back({relu, true, false, false, false});
    for (const bool first : {false, true}) {
      for (const bool keep : {false, true}) all.push_back({relu, true, true, first, keep});
    }
  }
  return all;
}

std::string text(const Epilogues& e) {
  return std::string(e.relu ? " relu" : "") + (e.add ? " add" : "") + (e.mean ? " mean" : "") +
         (e.first_residual ? " first" : "") + (e.mean_only ? " keep" : "");
}

std::vector<float> small_integers(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = float(random_int(random, -2, 2));
  return values;
}

/// A product of random rows; deep ones with a border are taken tap by tap in memory.
struct Problem {
  int rows, taps, depth, columns;
  int32_t zero_row = -1;
  std::vector<float> input = {}, weights = {}, bias = {}, before = {}, mean_before = {};
  std::vector<float> remainders = {};
  std::vector<int32_t> input_rows = {}, output_rows = {};
  int64_t stride() const { return columns + 3; }
};

constexpr int kInputs = 12;

Problem random_problem(Random& random, int rows, int taps, int depth, int columns) {
  Problem p{rows, taps, depth, columns};
  p.input = small_integers(random, size_t(kInputs) * size_t(depth));
  p.zero_row = kInputs - 1;
  std::fill_n(p.input.end() - depth, depth, 0.0f);
  p.weights = small_integers(random, size_t(taps) * size_t(depth) * size_t(columns));
  p.bias = small_integers(random, size_t(columns));
  p.bias.resize(p.bias.size() + 64);
  for (int i = 0; i < rows * taps; ++i) {
    p.input_rows.push_back(random_int(random, 0, kInputs - 1));
  }
  p.output_rows = shuffled(random, rows + 4);
  p.remainders = small_integers(random, p.output_rows.size());
  for (float& remainder : p.remainders) remainder *= 0.5f;
  p.before = small_integers(random, p.output_rows.size() * size_t(p.stride()));
  p.mean_before = small_integers(random, p.before.size());
  for (size_t i = 0; i < p.before.size(); ++i) {
    if (int64_t(i) % p.stride() >= columns) p.before[i] = p.mean_before[i] = kCanary;
    if (i % 17 == 5) p.before[i] = kNan;
  }
  for (const uint32_t bits : kNotNumbers) {  // and sums that are not numbers
    p.bias[size_t(random_int(random, 0, columns - 1))] = std::bit_cast<float>(bits);
  }
  return p;
}

template <typename Out>
struct Results {
  std::vector<Out> output;
  std::vector<float> mean;
};

template <typename In, typename Out>
Results<Out> run(const Problem& p, const Epilogues& e, const Table& table, DataType type) {
  const auto input = as<In>(p.input);
  Arena arena(1 << 20);
  const PackedWeights packed =
      pack_weights(table, type, p.weights.data(), {1, p.columns, int64_t(p.depth) * p.columns},
                   p.taps, p.depth, p.columns, arena);
  Results<Out> results{as<Out>(p.before), p.mean_before};
  RowProduct product;
  product.rows = p.rows;
  product.input = input.data();
  product.input_stride = p.depth;
  product.input_rows = p.input_rows.data();
  product.zero_row = p.zero_row;
  product.taps = p.taps;
  product.depth = p.depth;
  product.weights = packed.data;
  product.bias = p.bias.data();
  product.scales = packed.scales;
  product.last_panel = packed.panels();
  product.columns = p.columns;
  product.output = results.output.data();
  product.output_stride = p.stride();
  product.output_rows = p.output_rows.data();
  product.epilogue.relu = e.relu;
  product.epilogue.add = e.add;
  product.epilogue.mean = e.mean ? results.mean.data() : nullptr;
  product.epilogue.remainders = e.mean ? p.remainders.data() : nullptr;
  product.epilogue.first_residual = e.first_residual;
  product.epilogue.mean_only = e.mean_only;
  const TypedFunctions& functions = table.functions(type);
  (sizeof(Out) == sizeof(float) ? functions.product_to_f32 : functions.product)(product);
  return results;
}

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

template <typename In, typename Out>
void compare_all(const Problem& p, DataType type) {
  for (const Epilogues& e : all_epilogues()) {
    if (e.add && sizeof(Out) != sizeof(float)) continue;
    const auto expected = run<In, Out>(p, e, scalar_table(), type);
    for (const Table* table : tested_tables()) {
      SCOPED_TRACE(std::string(table->name) + " " + name_of(type) + text(e));
      const auto found = run<In, Out>(p, e, *table, type);
      for (size_t i = 0; i < p.before.size(); ++i) {
        ASSERT_TRUE(same(number(found.output[i]), number(expected.output[i])))
            << i << ": " << number(found.output[i]) << ", not " << number(expected.output[i]);
        ASSERT_TRUE(same(found.mean[i], expected.mean[i]))
            << i << ": " << found.mean[i] << ", not " << expected.mean[i];
      }
    }
  }
}

TEST(Epilogue, EveryKindIsTheScalarOneOnEveryInstructionSet) {
  Random random(11);
  struct Shape {
    int rows, taps, depth, columns;
  };
  // Whole panels, odd columns and less than a vector; taps in registers and, from 512 on, in
  // memory.
  const Shape shapes[] = {{1, 1, 3, 64}, {29, 1, 8, 37},   {13, 9, 5, 96},
                          {7, 9, 4, 3},  {25, 9, 512, 64}, {14, 9, 515, 37}};
  for (const Shape& shape : shapes) {
    const Problem p = random_problem(random, shape.rows, shape.taps, shape.depth, shape.columns);
    compare_all<float, float>(p, DataType::kFloat32);
    compare_all<uint16_t, float>(p, DataType::kBFloat16);
    compare_all<uint16_t, uint16_t>(p, DataType::kBFloat16);
    compare_all<uint8_t, float>(p, DataType::kInt8);
    compare_all<uint8_t, uint8_t>(p, DataType::kInt8);
    if (HasFatalFailure()) return;
  }
}

/// One row of one channel: the sum is 1 * weight.
Results<float> run_one(const Table& table, float weight, float before, float mean_before,
                       const Epilogues& e, float remainder = 0.5f) {
  Problem p{1, 1, 1, 1};
  p.input = {1};
  p.input_rows = p.output_rows = {0};
  p.weights = {weight};
  p.bias.resize(64);
  p.before = {before};
  p.mean_before = {mean_before};
  p.remainders = {remainder};
  return run<float, float>(p, e, table, DataType::kFloat32);
}

TEST(Epilogue, AResidualWithReluIsThePositivePartOfTheNewState) {
  for (const Table* table : tested_tables()) {
    SCOPED_TRACE(table->name);
    const Epilogues both = {true, true, true, false, false};
    // 3 - 1 = 2: the mean moves by half of the change.
    EXPECT_EQ(run_one(*table, -1, 3, 10, both).output[0], 2);
    EXPECT_EQ(run_one(*table, -1, 3, 10, both).mean[0], 9.5);
    // 3 - 5 is cut off at 0: the change is -3, not -5.
    EXPECT_EQ(run_one(*table, -5, 3, 10, both).output[0], 0);
    EXPECT_EQ(run_one(*table, -5, 3, 10, both).mean[0], 8.5);
    // The mean begins with the state before.
    EXPECT_EQ(run_one(*table, -5, 3, 10, {true, true, true, true, false}).mean[0], 1.5);
    // Where only the mean is wanted, the state stays.
    const Results<float> kept = run_one(*table, -5, 3, 10, {true, true, true, false, true});
    EXPECT_EQ(kept.output[0], 3);
    EXPECT_EQ(kept.mean[0], 8.5);
    EXPECT_EQ(run_one(*table, -5, 3, 10, {true, true, false, false, false}).output[0], 0);
    // What is not a number must not be hidden.
    EXPECT_TRUE(std::isnan(run_one(*table, kNan, 3, 10, both).output[0]));
    EXPECT_TRUE(std::isnan(run_one(*table, -5, kNan, 10, both).output[0]));
    EXPECT_TRUE(std::isnan(run_one(*table, -5, kNan, 10, both).mean[0]));
  }
}

TEST(Epilogue, WithARemainderOfOneTheMeanIsTheNewStateToTheBitAndKeptByTheLastUnitOnly) {
  const float before = 0.1f, weight = 1e-8f, kept = 10;
  for (const Table* table : tested_tables()) {
    for (const bool relu : {false, true}) {
      for (const bool first : {false, true}) {
        SCOPED_TRACE(table->name);
        const Results<float> going_on =
            run_one(*table, weight, before, kept, {relu, true, true, first, false}, 1);
        EXPECT_EQ(going_on.output[0], before + weight);
        EXPECT_EQ(going_on.mean[0], kept);
        const Results<float> last =
            run_one(*table, -7 * weight, before, kept, {relu, true, true, first, true}, 1);
        EXPECT_EQ(last.output[0], before);
        EXPECT_EQ(last.mean[0], before + -7 * weight);
      }
    }
  }
}

}  // namespace
}  // namespace sact::kernels
