// Random numbers and lists of rows for tests of kernels.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/half.h"
#include "base/random.h"
#include "kernels/cpu/elements.h"

namespace sact::kernels {

/// What must not be written over.
inline constexpr float kCanary = 12345.0f;

inline int random_int(Random& random, int low, int high) {
  return low + int(random.uniform(0, 1) * (high - low + 1) * 0.999999);
}

inline std::vector<float> random_values(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = float(random.normal());
  return values;
}

/// The number nearest to it that can be stored so.
inline float stored_value(float value, WeightStorage stored) {
  switch (stored) {
    case WeightStorage::kBFloat16:
      return float_from_bf16(bf16_from_float(value));
    case WeightStorage::kFloat16:
      return float_from_f16(f16_from_float(value));
    case WeightStorage::kOperand:
      break;
  }
  return value;
}

template <typename T>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> converted;
  for (float value : values) {
    if constexpr (sizeof(T) == sizeof(float)) {
      converted.push_back(value);
    } else if constexpr (sizeof(T) == 1) {
      converted.push_back(Int8::element(100 * value));
    } else {
      converted.push_back(bf16_from_float(value));
    }
  }
  return converted;
}

inline float number(float value) {
  return value;
}
inline float number(uint16_t bits) {
  return float_from_bf16(bits);
}
inline float number(uint8_t whole) {
  return whole;
}

inline std::vector<int32_t> shuffled(Random& random, int count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[size_t(random_int(random, 0, int(i) - 1))]);
  }
  return values;
}

/// NaN of several makes: as x86 gives it, as ARM gives it, and with all bits set.
inline constexpr uint32_t kNotNumbers[] = {0xffc00000u, 0x7fc00000u, 0x7fffffffu, 0xffffffffu};

}  // namespace sact::kernels
