// 16-bit floating point conversions.
#include "base/half.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace sact {
namespace {

TEST(Half, EveryF16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_f16(uint16_t(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(value))));
    } else {
      EXPECT_EQ(f16_from_float(value), bits);
    }
  }
}

TEST(Half, EveryBf16SurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_bf16(uint16_t(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(value))));
    } else {
      EXPECT_EQ(bf16_from_float(value), bits);
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(f16_from_float(1.0f), 0x3c00);
  EXPECT_EQ(f16_from_float(-2.0f), 0xc000);
  EXPECT_EQ(f16_from_float(65504.0f), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0f), 0x7c00) << "halfway to the next power rounds to infinity";
  EXPECT_EQ(f16_from_float(65519.0f), 0x7bff);
  EXPECT_EQ(f16_from_float(0x1p-24f), 0x0001);
  EXPECT_EQ(f16_from_float(0x1p-25f), 0x0000) << "a tie goes to even";
  EXPECT_EQ(bf16_from_float(1.0f), 0x3f80);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::infinity()), 0x7f80);
}

TEST(Half, RoundsToTheNearest) {
  const uint64_t seed = 1;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 100000; ++i) {
    const float value = float(random.normal() * std::exp(random.uniform(-8, 8)));
    const float f16 = float_from_f16(f16_from_float(value));
    EXPECT_LE(std::abs(f16 - value), std::abs(value) * 0x1p-11f + 0x1p-25f) << value;
    const float bf16 = float_from_bf16(bf16_from_float(value));
    EXPECT_LE(std::abs(bf16 - value), std::abs(value) * 0x1p-8f) << value;
  }
}

TEST(Half, OnlyWhatSurvivesTheRoundTripFits) {
  const auto expect_right = [](float value) {
    ASSERT_EQ(fits_f16(value), float_from_f16(f16_from_float(value)) == value) << value;
    ASSERT_EQ(fits_bf16(value), float_from_bf16(bf16_from_float(value)) == value) << value;
  };
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    for (const float value : {float_from_f16(uint16_t(bits)), float_from_bf16(uint16_t(bits))}) {
      if (!std::isfinite(value)) continue;
      for (const float other : {value, std::nextafter(value, 1.0f), std::nextafter(value, -1.0f)}) {
        expect_right(other);
      }
    }
  }
}

}  // namespace
}  // namespace sact
