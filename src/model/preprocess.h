// From a photograph to network input.
#pragma once

#include <vector>

#include "io/image.h"
#include "io/resize.h"
#include "model/spec.h"

namespace sact {

/// Resizes the part inside `crop`, then (v / 255 - mean) / std: one image [3, H, W].
std::vector<float> network_input(const io::Image& image, const io::Crop& crop, Size size,
                                 const InputSpec& input);

/// Whole image, aspect ratio kept: the size whose shorter side is `side`.
Size size_keeping_aspect(int width, int height, int side);

}  // namespace sact
