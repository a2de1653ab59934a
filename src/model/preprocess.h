// From a photograph to network input.
#pragma once

#include <span>
#include <vector>

#include "io/image.h"
#include "io/resize.h"
#include "model/spec.h"

namespace sact {

/// The part of a photograph that a network sees, and at which size.
struct View {
  io::Crop crop;
  Size size;
};

/// As in evaluation: the model's central crop, scaled to `size`. Both views throw sact::Error where
/// a network cannot be run on images of that size.
View central_view(const io::Image& image, const InputSpec& input, Size size);

/// The whole image with its aspect ratio, the shorter side being `side`.
View whole_view(const io::Image& image, int side);

/// Resizes the part inside `crop`, then (v / 255 - mean) / std: one image [3, H, W].
std::vector<float> network_input(const io::Image& image, const io::Crop& crop, Size size,
                                 const InputSpec& input);

/// Whole image, aspect ratio kept: the size whose shorter side is `side`.
Size size_keeping_aspect(int width, int height, int side);

/// Whether no value is infinite or not a number; for input that somebody else has prepared.
bool all_finite(std::span<const float> values);

}  // namespace sact
