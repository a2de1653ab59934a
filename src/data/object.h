// Painting objects, their shadows and the fragments that lie about.
#pragma once

#include <vector>

#include "base/random.h"
#include "data/colour.h"
#include "data/shapes.h"

namespace sact::data {

/// Paints `count` bars, blobs and short arcs outside the circles of `shapes`, as far as they find
/// room, and returns their colours.
std::vector<Colour> paint_fragments(Canvas& canvas, int count, const std::vector<Shape>& shapes,
                                    Random& random);

/// Paints an object, sometimes with a shadow, in a colour at least `min_contrast` from the mean of
/// what is there, and more on a lively texture. Of `familiar` colours one is taken now and then, so
/// that colour does not tell an object from a fragment.
void paint_object(Canvas& canvas, const Shape& shape, float min_contrast,
                  const std::vector<Colour>& familiar, Random& random);

}  // namespace sact::data
