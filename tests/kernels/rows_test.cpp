// Scores, sums and maxima of every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/kernels.h"
#include "kernels/random_rows.h"

namespace sact::kernels {
namespace {

TEST(Rows, ScoresAndSumsAndMaximaEqualTheScalarFormOnEveryInstructionSet) {
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

TEST(Rows, TheMaximumOfANumberAndNanIsNan) {
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

TEST(Rows, WhatIsOutsideOfTheImageIsNoPartOfItsMaximum) {
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

}  // namespace
}  // namespace sact::kernels
