// Pixels of any order where they lie, for those who read them row by row.
#pragma once

#include <cstdint>

#include "io/image.h"
#include "sact/image.h"

namespace sact::io {

/// Bytes of a pixel.
int channels_of(PixelOrder order);

/// A view without gaps in what it says: its stride is never 0.
struct PixelView : ImageView {
  PixelView(const ImageView& view);  // NOLINT: as good as the view
  PixelView(const RgbImage& image);  // NOLINT: as good as the image

  const uint8_t* pixel(int x, int y) const {
    return data + ptrdiff_t(y) * stride + ptrdiff_t(x) * channels_of(order);
  }
};

/// Throws sact::Error for a view that cannot be one of a picture: no pixels, too many, no address,
/// or rows that lie over each other.
void check_view(const ImageView& view);

/// `count` pixels from `from` on as RGB.
void unpack_pixels(const uint8_t* from, PixelOrder order, int count, uint8_t* rgb);

RgbImage copied(const PixelView& view);

}  // namespace sact::io
