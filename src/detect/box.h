// What detection does with boxes: areas, overlaps, clipping, flips.
#pragma once

#include <algorithm>

#include "base/size.h"
#include "sact/box.h"

namespace sact::detect {

/// Corners in pixels, half-open (see sact/box.h): no "+ 1" anywhere.
using sact::Box;

/// 0 for a box that is inverted or has no width or height.
inline float area(const Box& box) {
  return std::max(box.width(), 0.0f) * std::max(box.height(), 0.0f);
}

inline float intersection(const Box& a, const Box& b) {
  return area(
      {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)});
}

/// Intersection over union, 0 to 1; 0 where both boxes have no area.
inline float overlap(const Box& a, const Box& b) {
  const float common = intersection(a, b);
  const float either = area(a) + area(b) - common;
  return either > 0 ? common / either : 0;
}

/// The part inside of the image; a box that lies wholly outside becomes one without area at the
/// image's edge.
inline Box clipped(const Box& box, Size image) {
  const float width = float(image.width), height = float(image.height);
  return {std::clamp(box.x0, 0.0f, width), std::clamp(box.y0, 0.0f, height),
          std::clamp(box.x1, 0.0f, width), std::clamp(box.y1, 0.0f, height)};
}

/// The same box in the mirror image (left and right change places).
inline Box flipped(const Box& box, int image_width) {
  const float width = float(image_width);
  return {width - box.x1, box.y0, width - box.x0, box.y1};
}

/// The same box in an image that was resized by these factors.
inline Box scaled(const Box& box, float by_x, float by_y) {
  return {box.x0 * by_x, box.y0 * by_y, box.x1 * by_x, box.y1 * by_y};
}

}  // namespace sact::detect
