// Norms of every instruction set, and the operands that they store.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"
#include "kernels/tested_tables.h"

namespace sact::kernels {
namespace {

TEST(Norm, NormsEqualTheScalarFormOnEveryInstructionSet) {
  for (const Table* table : tested_tables()) {
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
      // Rounded once, whole numbers are the same everywhere.
      std::vector<uint8_t> whole_expected(size, 7), whole(size, 7);
      std::vector<float> wide_scale = scale, wide_shift = shift;
      for (float& factor : wide_scale) factor *= 100;
      for (float& factor : wide_shift) factor *= 100;
      norm.scale = wide_scale.data();
      norm.shift = wide_shift.data();
      norm.output = whole_expected.data();
      scalar_table().functions(DataType::kInt8).norm(norm);
      norm.output = whole.data();
      table->functions(DataType::kInt8).norm(norm);
      ASSERT_EQ(whole, whole_expected) << table->name << ", seed " << seed;
      for (size_t i = 0; i < size; ++i) {
        ASSERT_NEAR(found[i], expected[i], 1e-5) << table->name << ", seed " << seed;
        ASSERT_NEAR(float_from_bf16(half[i]), float_from_bf16(half_expected[i]), 0.02)
            << table->name << ", seed " << seed;
      }
    }
  }
}

TEST(Norm, WithoutAScaleRowsBecomeOperandsAsTheyAre) {
  Random random(5);
  for (const Table* table : tested_tables()) {
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

TEST(Norm, SixteenBitsAreRoundedLikeTheScalarForm) {
  // Halves between two neighbours, both ways, and numbers just beside them.
  std::vector<float> input;
  for (uint32_t bits : {0x3f808000u, 0x3f818000u, 0x3f808001u, 0x3f807fffu, 0x7f7f0000u,
                        0x00018000u, 0x42f7ffffu, 0x00000000u}) {
    for (int repeat = 0; repeat < 4; ++repeat) input.push_back(std::bit_cast<float>(bits));
  }
  const int channels = int(input.size());
  const std::vector<float> scale(input.size(), 1.0f), shift(input.size(), 0.0f);
  for (const Table* table : tested_tables()) {
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

TEST(Norm, NormsKeepWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const size_t channels = 37;  // whole vectors and a rest
  const std::vector<float> scale(channels, 1.0f), shift(channels, 0.0f);
  for (const Table* table : tested_tables()) {
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

}  // namespace
}  // namespace sact::kernels
