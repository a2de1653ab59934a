// The orientation of a photograph: finding it in EXIF data and applying it.
#pragma once

#include <cstdint>
#include <span>

#include "io/image.h"

namespace sact::io {

/// The orientation (1 to 8) in a TIFF structure as EXIF uses it; 1, upright, when there is none or
/// the data are damaged: a photograph is not refused for its metadata.
int exif_orientation(std::span<const uint8_t> tiff);

/// Whether the picture to look at is as wide as the stored one is high.
inline bool swaps_axes(int orientation) {
  return orientation >= 5 && orientation <= 8;
}

/// Turns the stored picture into the one to look at, by the EXIF code.
RgbImage apply_orientation(RgbImage stored, int orientation);

}  // namespace sact::io
