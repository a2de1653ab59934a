// The outlines of the ten classes as signed distance functions, placed in a picture.
#pragma once

#include "data/synthetic.h"
#include "sact/types.h"

namespace sact::data {

/// An object's outline. Its circumscribed circle has `radius` pixels around (x, y).
struct Shape {
  int label = 0;
  float proportion = 0.5f;  // 0 to 1: from slender to stout, within the class
  float x = 0, y = 0;
  float radius = 1;
  float angle = 0;    // radians
  float stretch = 1;  // the shape's second axis relative to its first, at most 1
};

/// Signed distance to the outline of a class in its own frame, where it fits the unit circle;
/// negative inside. Exact near the outline and good enough for shading elsewhere.
float unit_distance(int label, float proportion, float x, float y);

/// The distance function of a placed shape, in pixels of the picture.
class ShapeField {
 public:
  explicit ShapeField(const Shape& shape);

  float distance(float x, float y) const;

 private:
  Shape shape_;
  float cosine_, sine_, scale_;
};

/// How much of a pixel is covered when its centre is `distance` pixels from a straight edge.
inline float coverage(float distance) {
  const float inside = 0.5f - distance;
  return inside < 0 ? 0 : inside > 1 ? 1 : inside;
}

/// A rectangle of whole pixels, half-open.
struct PixelRect {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// The pixels within `reach` of (x, y) in both directions, cut to the picture.
PixelRect pixels_around(float x, float y, float reach, int width, int height);

/// Coverage of every pixel of a picture.
Map shape_mask(const Shape& shape, int height, int width);

/// The smallest box around the pixels of which the shape covers at least a quarter: fainter ones,
/// at the points of a star, cannot be seen.
Box shape_box(const Shape& shape, int height, int width);

}  // namespace sact::data
