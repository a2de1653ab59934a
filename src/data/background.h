// Backgrounds like those of photographs: one surface, or one above another, and the light on it
// all.
#pragma once

#include "base/random.h"
#include "data/colour.h"

namespace sact::data {

/// A textured surface in random colours that drift across the picture; about one in three is cut by
/// a horizon with another surface below it.
Canvas random_background(int width, int height, Random& random);

/// Light that falls off to one side and towards the corners.
struct Light {
  float across = 0, down = 0, vignette = 0;

  static Light random(Random& random);
  /// The factor at (x, y), both from -1 to 1 across the picture.
  float at(float x, float y) const {
    return (1 + across * x + down * y) * (1 - vignette * (x * x + y * y));
  }
};

}  // namespace sact::data
