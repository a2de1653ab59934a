// Weights as they are packed for products, by what the table of types says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"

namespace sact::kernels {
namespace {

TEST(Weights, DepthsOfAPanelFollowEachOther) {
  const float weights[] = {1, 2, 3, 4};
  Arena arena(4096);
  // [column, depth]
  const PackedWeights packed =
      pack_weights(scalar_table(), DataType::kFloat32, weights, {2, 1, 0}, 1, 2, 2, arena);
  const float* data = static_cast<const float*>(packed.data);
  const int panel = scalar_table().functions(DataType::kFloat32).panel_columns;
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(data[1], 3);
  EXPECT_EQ(data[panel], 2);
  EXPECT_EQ(data[panel + 1], 4);
  EXPECT_EQ(data[2], 0);
}

TEST(Weights, AreLaidOutInWholePanelsAndGroupsOfDepths) {
  // Three columns of depth 3 and two taps: weight = 100 * column + 10 * k + tap + 1.
  std::vector<float> weights;
  for (int column = 0; column < 3; ++column) {
    for (int k = 0; k < 3; ++k) {
      for (int tap = 0; tap < 2; ++tap) weights.push_back(float(100 * column + 10 * k + tap + 1));
    }
  }
  for (const OperandType& type : operand_types()) {
    SCOPED_TRACE(type.name);
    Arena arena(4096);
    const PackedWeights packed =
        pack_weights(type, {2}, {weights.data(), {6, 2, 1}, 2, 3, 3}, arena);
    ASSERT_EQ(packed.panels(), 2);
    ASSERT_EQ(packed.scales == nullptr, type.largest_weight == 0);
    const int group = type.depth_group, padded = (3 + group - 1) / group * group;
    for (int panel = 0; panel < 2; ++panel) {
      for (int i = 0; i < 2 * padded * 2; ++i) {
        const int tap = i / (padded * 2), in_tap = i % (padded * 2);
        const int column = panel * 2 + in_tap / group % 2;
        const int k = in_tap / (2 * group) * group + in_tap % group;
        const bool there = column < 3 && k < 3;
        const float scale = there && packed.scales ? 1 / packed.scales[column] : 1.0f;
        const float weight = there ? float(100 * column + 10 * k + tap + 1) * scale : 0.0f;
        std::vector<std::byte> expected(size_t(type.weights.bytes));
        type.weights.store(&weight, 1, expected.data());
        const auto* found =
            static_cast<const std::byte*>(packed.panel(panel)) + i * type.weights.bytes;
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found)) << panel << ", " << i;
      }
    }
  }
}

TEST(Weights, OfALayoutWithADepthStepHaveZerosUpToIt) {
  // Two taps of depth 3 in steps of 4, one column.
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  Arena arena(4096);
  const PackedWeights packed = pack_weights(operand_type(DataType::kFloat32), {2, 4},
                                            {weights.data(), {0, 1, 3}, 2, 3, 1}, arena);
  EXPECT_EQ(packed.panel_elements(), 2 * 4 * 2);
  const auto* data = static_cast<const float*>(packed.data);
  const std::vector<float> expected = {1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 5, 0, 6, 0, 0, 0};
  EXPECT_EQ(std::vector<float>(data, data + 16), expected);
}

TEST(Weights, OfATypeWithALargestAreScaledToItByColumn) {
  // Of depth 5; the columns' largest are 5, 254 and 0.
  const std::vector<float> weights = {1, -2, 3, -4, 5, 254, 0, 0, 0, -2, 0, 0, 0, 0, 0};
  Arena arena(4096);
  const PackedWeights packed =
      pack_weights(operand_type(DataType::kInt8), {2}, {weights.data(), {5, 1, 0}, 1, 5, 3}, arena);
  ASSERT_EQ(packed.panels(), 2);
  EXPECT_FLOAT_EQ(packed.scales[0], 5.0f / 127);
  EXPECT_FLOAT_EQ(packed.scales[1], 2);
  EXPECT_EQ(packed.scales[2], 1);
  const auto* data = static_cast<const int8_t*>(packed.data);
  // Two groups of four depths, each of two columns.
  const std::vector<int> expected = {25, -51, 76, -102, 127, 0, 0, 0, 127, 0, 0, 0, -1, 0, 0, 0};
  EXPECT_EQ(std::vector<int>(data, data + 16), expected);
  EXPECT_EQ(static_cast<const int8_t*>(packed.panel(1)), data + 16);
}

TEST(Weights, AreStoredInTheSixteenBitsThatHoldThemAll) {
  std::vector<float> weights(10000, 0.5f);
  EXPECT_EQ(exact_storage(weights), WeightStorage::kBFloat16);
  weights[9000] = 1 + 0x1p-10f;
  EXPECT_EQ(exact_storage(weights), WeightStorage::kFloat16);
  weights[1] = 0x1p-30f;  // which bfloat16 holds, but not the other
  EXPECT_EQ(exact_storage(weights), WeightStorage::kOperand);
  weights[9000] = 1;
  EXPECT_EQ(exact_storage(weights), WeightStorage::kBFloat16);
  weights[9999] = 0.1f;
  EXPECT_EQ(exact_storage(weights), WeightStorage::kOperand);
}

TEST(Weights, OfSixteenBitsTakeHalfTheBytesAndAreWidenedWithTheirScales) {
  constexpr int kTaps = 9, kDepth = 5, kColumns = 11;
  Random random(1);
  const auto scales = random_values(random, kColumns);
  for (const WeightStorage stored : {WeightStorage::kBFloat16, WeightStorage::kFloat16}) {
    auto weights = random_values(random, kTaps * kDepth * kColumns);
    for (float& weight : weights) weight = stored_value(weight, stored);
    std::vector<float> scaled = weights;
    for (size_t i = 0; i < weights.size(); ++i) scaled[i] *= scales[i % kColumns];
    Arena arena(1 << 20);
    const WeightStrides strides{1, kColumns, kDepth * kColumns};
    const auto packed = [&](const std::vector<float>& numbers, WeightStorage storage) {
      return pack_weights(
          operand_type(DataType::kFloat32), {8},
          {numbers.data(), strides, kTaps, kDepth, kColumns, storage, scales.data()}, arena);
    };
    const PackedWeights half = packed(weights, stored);
    const PackedWeights full = packed(scaled, WeightStorage::kOperand);
    EXPECT_EQ(2 * half.bytes(), full.bytes());
    for (int panel = 0; panel < full.panels(); ++panel) {
      const float *expected = float_panel(full, panel), *found = float_panel(half, panel);
      EXPECT_EQ(std::vector(expected, expected + full.panel_elements()),
                std::vector(found, found + full.panel_elements()));
    }
  }
}

TEST(OperandTypes, AreKnownByTypeAndName) {
  EXPECT_EQ(operand_type(DataType::kFloat32).rows.bytes, 4);
  EXPECT_STREQ(name_of(DataType::kFloat32), "fp32");
  EXPECT_EQ(operand_type(DataType::kBFloat16).rows.bytes, 2);
  EXPECT_STREQ(name_of(DataType::kBFloat16), "bf16");
  EXPECT_EQ(operand_type(DataType::kInt8).rows.bytes, 1);
  EXPECT_STREQ(name_of(DataType::kInt8), "int8");
  for (const OperandType& type : operand_types()) EXPECT_EQ(&operand_type(type.type), &type);
}

}  // namespace
}  // namespace sact::kernels
