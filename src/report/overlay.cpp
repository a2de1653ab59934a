// Sampling maps between their cells, and mixing their colours into a photograph.
#include "report/overlay.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "report/color.h"
#include "report/colormap.h"

namespace sact::report {
namespace {

/// Where a pixel of the picture lies between two cells of the map, along one axis.
struct Between {
  int first;
  int second;
  double share;  // of the second
  int nearest;
};

Between between_cells(int pixel, int pixels, int cells) {
  const double center = (pixel + 0.5) * cells / pixels - 0.5;
  const double inside = std::clamp(center, 0.0, double(cells - 1));
  const int first = int(inside);
  const int nearest = std::min(cells - 1, int((pixel + 0.5) * cells / pixels));
  return {first, std::min(first + 1, cells - 1), inside - first, nearest};
}

/// The mean of the four cells around, as far as they have a value; none where the nearest has none.
double bilinear_value(const Map& map, const Between& y, const Between& x) {
  if (!std::isfinite(map.at(y.nearest, x.nearest))) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0, weights = 0;
  const auto add = [&](int row, int column, double weight) {
    const double value = map.at(row, column);
    if (!std::isfinite(value)) return;
    sum += weight * value;
    weights += weight;
  };
  add(y.first, x.first, (1 - y.share) * (1 - x.share));
  add(y.first, x.second, (1 - y.share) * x.share);
  add(y.second, x.first, y.share * (1 - x.share));
  add(y.second, x.second, y.share * x.share);
  return sum / weights;
}

}  // namespace

io::Image map_image(const Map& map, int width, int height, const ValueRange& range,
                    Interpolation interpolation) {
  SACT_ASSERT(map.height > 0 && map.width > 0 && width > 0 && height > 0);
  SACT_ASSERT(map.values.size() == size_t(map.height) * size_t(map.width));
  io::Image image(width, height);
  for (int row = 0; row < height; ++row) {
    const Between y = between_cells(row, height, map.height);
    for (int column = 0; column < width; ++column) {
      const Between x = between_cells(column, width, map.width);
      const double value = interpolation == Interpolation::kNearest ? map.at(y.nearest, x.nearest)
                                                                    : bilinear_value(map, y, x);
      const Rgb color = sequential_color(range.position(value));
      uint8_t* pixel = image.pixel(column, row);
      pixel[0] = color.r;
      pixel[1] = color.g;
      pixel[2] = color.b;
    }
  }
  return image;
}

io::Image overlay(const io::Image& photo, const Map& map, const ValueRange& range,
                  double strength) {
  SACT_ASSERT(photo.rgb.size() == size_t(photo.width) * size_t(photo.height) * 3);
  const double share = std::clamp(strength, 0.0, 1.0);
  io::Image out = map_image(map, photo.width, photo.height, range, Interpolation::kBilinear);
  for (size_t i = 0; i < out.rgb.size(); i += 3) {
    const uint8_t* p = photo.rgb.data() + i;
    const uint8_t grey = uint8_t(std::lround(0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2]));
    const Rgb faded = mix({p[0], p[1], p[2]}, {grey, grey, grey}, share);
    const Rgb color = mix(faded, {out.rgb[i], out.rgb[i + 1], out.rgb[i + 2]}, share);
    out.rgb[i] = color.r;
    out.rgb[i + 1] = color.g;
    out.rgb[i + 2] = color.b;
  }
  return out;
}

}  // namespace sact::report
