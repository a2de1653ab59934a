// How single numbers are stored as operands of products, for templates; operand_types.h has the
// same at run time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/half.h"
#include "sact/types.h"

namespace sact::kernels {

/// Of the operands of products.
using DataType = Precision;

struct Float32 {
  using Element = float;
  static constexpr DataType kType = DataType::kFloat32;
  static constexpr int kDepthGroup = 1;   // consecutive depths that lie together in packed weights
  static constexpr int kLargestTile = 4;  // whose transforms it is exact enough for; see winograd.h

  static float value(Element element) { return element; }
  static Element element(float value) { return value; }
};

/// Pairs of depths lie together: instructions multiply two of them at a time. Transforms of tiles
/// of 2x2 cost less than one of its bits; those of 4x4 multiply by up to 8 and would cost three.
struct BFloat16 {
  using Element = uint16_t;
  static constexpr DataType kType = DataType::kBFloat16;
  static constexpr int kDepthGroup = 2;
  static constexpr int kLargestTile = 2;

  static float value(Element element) { return float_from_bf16(element); }
  static Element element(float value) { return bf16_from_float(value); }
};

/// Of weights alone.
struct Float16 {
  using Element = uint16_t;

  static float value(Element element) { return float_from_f16(element); }
  static Element element(float value) { return f16_from_float(value); }
};

/// How weights are stored: as their type of operands says or, where that is 32 bits, in 16. These
/// are widened while they are multiplied.
enum class WeightStorage { kOperand, kBFloat16, kFloat16 };

/// Rows are whole numbers from 0 to 255, weights from -127 to 127, both times a scale; sums of
/// their products are whole numbers of 32 bits, the same in any order. Four depths lie together:
/// instructions multiply so many at a time.
struct Int8 {
  using Element = uint8_t;
  using Weight = int8_t;
  static constexpr DataType kType = DataType::kInt8;
  static constexpr int kDepthGroup = 4;
  static constexpr int kLargestTile = 0;
  static constexpr float kLargest = 255, kLargestWeight = 127;

  static float value(Element element) { return element; }
  /// Rounds to the nearest, and of two to the even one. What is not a number becomes 0.
  static Element element(float value) {
    return Element(std::nearbyint(value > 0 ? std::min(value, kLargest) : 0.0f));
  }
  static Weight weight(float value) {
    return Weight(std::nearbyint(std::clamp(value, -kLargestWeight, kLargestWeight)));
  }
};

/// Depths of a tap in packed weights: whole groups.
constexpr int64_t padded_depth(int depth, int group) {
  return (int64_t(depth) + group - 1) / group * group;
}

/// The larger of two numbers, or NaN where one is NaN, which must not be hidden.
inline float larger_or_nan(float a, float b) {
  return a != a || b <= a ? a : b;
}

}  // namespace sact::kernels
