// Boxes as four numbers relative to a reference box, which is what the networks predict.
#pragma once

#include "detect/box.h"

namespace sact::detect {

/// By what the four numbers are multiplied, so that they have about unit variance.
struct CodingScales {
  float x = 10, y = 10, width = 5, height = 5;
};

/// With (cx, cy, w, h) of a box and (ca_x, ca_y, wa, ha) of its reference (an anchor, a proposal):
///   x = 10 (cx - ca_x) / wa,  y = 10 (cy - ca_y) / ha,  width = 5 ln(w / wa),  height = 5 ln(h /
///   ha)
/// In tensors the order is x, y, width, height.
struct BoxCode {
  float x = 0, y = 0, width = 0, height = 0;
  bool operator==(const BoxCode&) const = default;
};

/// Sides below this, in pixels, count as this, so that every box and reference has a finite code.
inline constexpr float kShortestSide = 1e-3f;

/// ln(1000 / 16): the logarithms of sizes are limited to this before exp, so that no code of an
/// untrained network overflows.
inline constexpr float kLargestLogSize = 4.135166556742356f;

BoxCode encode(const Box& box, const Box& reference, const CodingScales& scales = {});

/// The box of a code; not clipped to any image. Inverse of `encode` where sizes grow at most
/// 62.5-fold and sides are at least kShortestSide.
Box decode(const BoxCode& code, const Box& reference, const CodingScales& scales = {});

}  // namespace sact::detect
