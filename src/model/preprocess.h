// From a photograph to network input: the evaluation crop and bilinear resizing.
#pragma once

#include <vector>

#include "io/image.h"
#include "model/spec.h"

namespace sact {

/// A rectangle of an image in pixels; right and bottom are exclusive.
struct Crop {
  int left = 0, top = 0, right = 0, bottom = 0;
  int width() const { return right - left; }
  int height() const { return bottom - top; }
};

/// The central part with `share` of each side, at least one pixel.
Crop central_crop(int width, int height, double share);

/// The part of an image inside `crop`.
io::Image cut(const io::Image& image, const Crop& crop);

/// Resizes the part inside `crop` to `size`, as floats in [0, 255], channel by channel (planes).
/// Bilinear with pixel centres at halves; when it shrinks, the triangle widens with the scale so
/// that no pixel is skipped. This is LibTorch's `upsample_bilinear2d` with antialias, which
/// training and evaluation use on batches.
std::vector<float> resize(const io::Image& image, const Crop& crop, Size size);

/// `resize`, then (v / 255 - mean) / std: one image [3, H, W] for the network.
std::vector<float> network_input(const io::Image& image, const Crop& crop, Size size,
                                 const InputSpec& input);

/// Whole image, aspect ratio kept: the size whose shorter side is `side`.
Size size_keeping_aspect(int width, int height, int side);

}  // namespace sact
