// EXIF orientation: a bounds-checked walk through the first directory, and turning the pixels.
#include "io/exif.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sact::io {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShortType = 3;
constexpr size_t kEntrySize = 12;

/// Numbers in either byte order; what lies outside the data reads as 0.
struct TiffBytes {
  std::span<const uint8_t> bytes;
  bool big_endian;

  uint32_t number(size_t offset, size_t size) const {
    if (offset > bytes.size() || size > bytes.size() - offset) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t shift = 8 * (big_endian ? size - 1 - i : i);
      value |= uint32_t(bytes[offset + i]) << shift;
    }
    return value;
  }
};

}  // namespace

int exif_orientation(std::span<const uint8_t> bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return 1;
  const TiffBytes tiff{bytes, bytes[0] == 'M'};
  if (tiff.number(2, 2) != 42) return 1;
  const size_t directory = tiff.number(4, 4);
  const size_t entries = tiff.number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntrySize;
    if (entry >= bytes.size()) break;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = tiff.number(entry + 8, 2);
    const bool valid = tiff.number(entry + 2, 2) == kShortType && value >= 1 && value <= 8;
    return valid ? int(value) : 1;
  }
  return 1;
}

RgbImage apply_orientation(RgbImage stored, int orientation) {
  if (orientation <= 1 || orientation > 8) return stored;
  const bool swap_axes = swaps_axes(orientation);
  const bool flip_x = orientation == 2 || orientation == 3 || orientation >= 7;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;

  RgbImage shown =
      swap_axes ? RgbImage(stored.height, stored.width) : RgbImage(stored.width, stored.height);
  // Steps through the stored pixels for one pixel to the right and one down in the shown picture.
  ptrdiff_t step_x = flip_x ? -1 : 1;
  ptrdiff_t step_y = flip_y ? -ptrdiff_t(stored.width) : stored.width;
  const ptrdiff_t first =
      (flip_x ? stored.width - 1 : 0) + (flip_y ? ptrdiff_t(stored.height - 1) * stored.width : 0);
  if (swap_axes) std::swap(step_x, step_y);
  for (int y = 0; y < shown.height; ++y) {
    for (int x = 0; x < shown.width; ++x) {
      const uint8_t* source = stored.rgb.data() + 3 * (first + y * step_y + x * step_x);
      std::copy_n(source, 3, shown.pixel(x, y));
    }
  }
  return shown;
}

}  // namespace sact::io
