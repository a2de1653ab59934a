// Cutting and resizing pictures.
#pragma once

#include <span>
#include <vector>

#include "base/size.h"
#include "io/image.h"
#include "io/pixel_view.h"
#include "sact/types.h"

namespace sact::io {

/// A rectangle of an image in pixels; right and bottom are exclusive.
struct Crop {
  int left = 0, top = 0, right = 0, bottom = 0;
  int width() const { return right - left; }
  int height() const { return bottom - top; }
};

/// The whole image.
Crop whole(const PixelView& image);

/// The central part with `share` of each side, at least one pixel.
Crop central_crop(const PixelView& image, double share);

/// The part of an image inside `crop`.
RgbImage cut(const RgbImage& image, const Crop& crop);

/// Resizes the part inside `crop` to `size`, as floats in [0, 255], channel by channel (planes).
/// Bilinear with pixel centres at halves; when it shrinks, the triangle widens with the scale so
/// that no pixel is skipped. This is LibTorch's `upsample_bilinear2d` with antialias, which
/// training and evaluation use on batches.
std::vector<float> resize(const RgbImage& image, const Crop& crop, Size size);

/// The same pixel by pixel, [H, W, 3], into memory of just that many values.
void resize_pixels(const PixelView& image, const Crop& crop, Size size, std::span<float> pixels);

/// The whole image at another size, in the same way.
RgbImage resized(const RgbImage& image, Size size);

/// A map at another size, in the same way.
Map resized(const Map& map, Size size);

}  // namespace sact::io
