// Deciding what is in a synthetic picture and where, before anything is painted.
#pragma once

#include <vector>

#include "data/shapes.h"
#include "data/synthetic.h"

namespace sact::data {

/// Throws sact::Error when the options do not describe pictures that can be made.
void check_options(const SyntheticOptions& options);

/// The most objects that a scene may be asked for: their circles, at the smallest size, take up no
/// more of the picture than random placing can be relied on to fill.
int max_scene_objects(const SyntheticOptions& options);

/// The objects of a picture, entirely inside it, with circles that do not overlap.
std::vector<Shape> plan_shapes(const SyntheticOptions& options, int64_t index, int min_objects,
                               int max_objects);

}  // namespace sact::data
