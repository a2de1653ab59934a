// 16-bit floating point formats, converted by the rules of IEEE 754 (round to nearest even).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace sact {

inline float float_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

inline uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  // Both are worked out, so that loops over many numbers have no branches.
  const uint32_t quiet = (bits >> 16) | 0x40;
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return uint16_t(value != value ? quiet : rounded);
}

inline float float_from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  // The exponent and mantissa stand where those of a float do, but count from another power of two.
  // No branches here either, and no float below the normal ones on the way, which programs that
  // take those for zero would lose.
  const uint32_t shifted = uint32_t(bits & 0x7fff) << 13;
  const float small = std::bit_cast<float>(0x38800000u | shifted) - 0x1p-14f;
  const uint32_t magnitude =
      (bits & 0x7c00) == 0 ? std::bit_cast<uint32_t>(small) : shifted + 0x38000000u;
  const uint32_t not_finite = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0;
  return std::bit_cast<float>(sign | not_finite | magnitude);
}

inline uint16_t f16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00);   // not a number
  if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00);  // rounds to infinity
  if (magnitude < 0x38800000) {                                 // below the smallest normal
    const float units = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return uint16_t(sign | uint16_t(std::nearbyint(units)));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return uint16_t(sign | uint16_t((rounded - (112u << 23)) >> 13));
}

/// Whether a number that is finite keeps its value as bfloat16.
inline bool fits_bf16(float value) {
  return (std::bit_cast<uint32_t>(value) & 0xffff) == 0;
}

/// The same as the other format; no branches.
inline bool fits_f16(float value) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffff;
  const bool normal = magnitude - 0x38800000u < 0x47800000u - 0x38800000u;
  // Below the smallest normal one they are whole multiples of one number.
  const float units = std::bit_cast<float>(normal ? 0 : magnitude) * 0x1p24f;
  const bool small = magnitude < 0x38800000u && units == float(int(units < 1024 ? units : 0.0f));
  return normal ? (magnitude & 0x1fff) == 0 : small;
}

}  // namespace sact
