// Sampling maps between their cells, and mixing their colours into a photograph.
#include "report/overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

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

/// The colours of a range, as a table to look them up in.
class Palette {
 public:
  explicit Palette(const ValueRange& range) : colors_(sequential_table()), low_(range.low) {
    if (range.constant()) {
      start_ = kSequentialSteps / 2.0;
    } else {
      scale_ = kSequentialSteps / (range.high - range.low);
    }
  }

  Rgb operator()(double value) const {
    const double place = start_ + (value - low_) * scale_;
    // NaN where there is no value or no range; infinity has no colour either.
    if (!(std::abs(place) <= std::numeric_limits<double>::max())) return kMissingColor;
    return colors_[size_t(std::clamp(place, 0.0, double(kSequentialSteps)) + 0.5)];
  }

 private:
  const std::array<Rgb, kSequentialSteps + 1>& colors_;
  double low_, start_ = 0, scale_ = 0;
};

std::vector<Between> along(int pixels, int cells) {
  std::vector<Between> places;
  for (int i = 0; i < pixels; ++i) places.push_back(between_cells(i, pixels, cells));
  return places;
}

void put(uint8_t* pixel, Rgb color) {
  pixel[0] = color.r;
  pixel[1] = color.g;
  pixel[2] = color.b;
}

/// Rows that show the same cells are drawn once.
void draw_nearest(const Map& map, const Palette& palette, io::RgbImage& image) {
  const std::vector<Between> columns = along(image.width, map.width);
  std::vector<Rgb> cells(size_t(map.width));
  int drawn = -1;
  for (int row = 0; row < image.height; ++row) {
    const int y = between_cells(row, image.height, map.height).nearest;
    if (y == drawn) {
      std::copy_n(image.pixel(0, row - 1), size_t(image.width) * 3, image.pixel(0, row));
      continue;
    }
    drawn = y;
    for (int x = 0; x < map.width; ++x) cells[size_t(x)] = palette(map.at(y, x));
    uint8_t* pixel = image.pixel(0, row);
    for (const Between& x : columns) {
      put(pixel, cells[size_t(x.nearest)]);
      pixel += 3;
    }
  }
}

void draw_bilinear(const Map& map, const Palette& palette, io::RgbImage& image) {
  const std::vector<Between> columns = along(image.width, map.width);
  const bool whole = std::all_of(map.values.begin(), map.values.end(),
                                 [](float value) { return std::isfinite(value); });
  std::vector<double> between_rows(size_t(map.width));
  for (int row = 0; row < image.height; ++row) {
    const Between y = between_cells(row, image.height, map.height);
    for (int x = 0; whole && x < map.width; ++x) {
      between_rows[size_t(x)] = (1 - y.share) * map.at(y.first, x) + y.share * map.at(y.second, x);
    }
    uint8_t* pixel = image.pixel(0, row);
    for (const Between& x : columns) {
      const double value = whole ? (1 - x.share) * between_rows[size_t(x.first)] +
                                       x.share * between_rows[size_t(x.second)]
                                 : bilinear_value(map, y, x);
      put(pixel, palette(value));
      pixel += 3;
    }
  }
}

}  // namespace

io::RgbImage map_image(const Map& map, int width, int height, const ValueRange& range,
                       Interpolation interpolation) {
  SACT_ASSERT(map.height > 0 && map.width > 0 && width > 0 && height > 0);
  SACT_ASSERT(map.values.size() == size_t(map.height) * size_t(map.width));
  io::RgbImage image(width, height);
  const Palette palette(range);
  if (interpolation == Interpolation::kNearest) {
    draw_nearest(map, palette, image);
  } else {
    draw_bilinear(map, palette, image);
  }
  return image;
}

io::RgbImage overlay(const io::RgbImage& photo, const Map& map, const ValueRange& range,
                     double strength) {
  SACT_ASSERT(photo.rgb.size() == size_t(photo.width) * size_t(photo.height) * 3);
  // In fixed point. The photograph first goes to grey by `share`, then to the map's colour.
  constexpr uint32_t kOne = 1 << 16;
  constexpr uint32_t kRed = 13933, kGreen = 46871, kBlue = kOne - kRed - kGreen;  // of luminance
  const double share = std::clamp(strength, 0.0, 1.0);
  const uint32_t of_map = uint32_t(std::lround(share * kOne));
  const uint32_t of_grey = uint32_t(std::lround(share * (1 - share) * kOne));
  const uint32_t of_photo = kOne - of_map - of_grey;
  io::RgbImage out = map_image(map, photo.width, photo.height, range, Interpolation::kBilinear);
  for (size_t i = 0; i < out.rgb.size(); i += 3) {
    const uint8_t* p = photo.rgb.data() + i;
    const uint32_t grey = (kRed * p[0] + kGreen * p[1] + kBlue * p[2] + kOne / 2) / kOne;
    for (size_t c = 0; c < 3; ++c) {
      const uint32_t sum = of_photo * p[c] + of_grey * grey + of_map * out.rgb[i + c];
      out.rgb[i + c] = uint8_t((sum + kOne / 2) / kOne);
    }
  }
  return out;
}

}  // namespace sact::report
