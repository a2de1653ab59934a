// Small pictures and maps for the tests of the report layer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "io/image.h"
#include "report/canvas.h"
#include "report/color.h"
#include "sact/types.h"

namespace sact::test {

inline io::RgbImage plain_image(int width, int height, report::Rgb color) {
  io::RgbImage image(width, height);
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    image.rgb[i] = color.r;
    image.rgb[i + 1] = color.g;
    image.rgb[i + 2] = color.b;
  }
  return image;
}

inline report::Rgb color_at(const io::RgbImage& image, int x, int y) {
  const uint8_t* pixel = image.pixel(x, y);
  return {pixel[0], pixel[1], pixel[2]};
}

/// How many pixels have exactly this colour.
inline int count_color(const io::RgbImage& image, report::Rgb color) {
  int count = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) count += color_at(image, x, y) == color;
  }
  return count;
}

/// The box around all pixels that are not white.
inline report::Rectangle ink(const io::RgbImage& image) {
  int left = image.width, top = image.height, right = 0, bottom = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (color_at(image, x, y) == report::kWhite) continue;
      left = std::min(left, x), right = std::max(right, x + 1);
      top = std::min(top, y), bottom = std::max(bottom, y + 1);
    }
  }
  return {left, top, right - left, bottom - top};
}

/// Values rising from `low` in the left top corner to `high` in the right bottom one.
inline Map ramp_map(int height, int width, float low, float high) {
  Map map(height, width);
  const size_t last = map.values.size() - 1;
  for (size_t i = 0; i <= last; ++i) map.values[i] = low + (high - low) * float(i) / float(last);
  return map;
}

}  // namespace sact::test
