#include "io/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"

namespace sact::io {
namespace {

/// For one output pixel: the first input pixel that counts and the weights from there on.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

/// Triangle filter from `in` pixels to `out` pixels along one axis.
std::vector<Taps> bilinear_taps(int in, int out) {
  const double scale = double(in) / out;
  const double support = std::max(scale, 1.0);
  std::vector<Taps> taps(static_cast<size_t>(out));
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(int(center - support + 0.5), 0);
    const int last = std::min(int(center + support + 0.5), in);
    Taps& tap = taps[size_t(i)];
    tap.first = first;
    double sum = 0;
    for (int j = first; j < last; ++j) {
      const double weight = std::max(0.0, 1 - std::abs(j + 0.5 - center) / support);
      tap.weights.push_back(float(weight));
      sum += weight;
    }
    for (float& weight : tap.weights) weight = float(weight / sum);
  }
  return taps;
}

/// Resizes the part inside `crop` and gives `take(y, line)` each line of interleaved RGB in turn.
template <typename Take>
void resize_lines(const Image& image, const Crop& crop, Size size, Take&& take) {
  SACT_ASSERT(crop.left >= 0 && crop.top >= 0 && crop.right <= image.width &&
              crop.bottom <= image.height && crop.width() > 0 && crop.height() > 0);
  SACT_ASSERT(size.width > 0 && size.height > 0);
  const auto columns = bilinear_taps(crop.width(), size.width);
  const auto rows = bilinear_taps(crop.height(), size.height);
  const size_t row_length = size_t(size.width) * 3;

  // Horizontally first, into rows of interleaved RGB. Of those only the ones that the current line
  // needs are kept: a picture of one column and a million rows must not become a large one.
  size_t window = 1;
  for (const Taps& taps : rows) window = std::max(window, taps.weights.size());
  std::vector<float> narrow(window * row_length);
  auto narrow_row = [&](int y) { return &narrow[size_t(y) % window * row_length]; };
  auto fill_row = [&](int y) {
    float* target = narrow_row(y);
    for (int x = 0; x < size.width; ++x) {
      const Taps& taps = columns[size_t(x)];
      const uint8_t* source = image.pixel(crop.left + taps.first, crop.top + y);
      float sum[3] = {0, 0, 0};
      for (float weight : taps.weights) {
        for (int c = 0; c < 3; ++c) sum[c] += weight * float(*source++);
      }
      target = std::copy(sum, sum + 3, target);
    }
  };

  int filled = 0;
  std::vector<float> line(row_length);
  for (int y = 0; y < size.height; ++y) {
    const Taps& taps = rows[size_t(y)];
    const int last = taps.first + int(taps.weights.size());
    for (filled = std::max(filled, taps.first); filled < last; ++filled) fill_row(filled);
    std::fill(line.begin(), line.end(), 0.0f);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      const float* source = narrow_row(taps.first + int(k));
      for (size_t i = 0; i < row_length; ++i) line[i] += taps.weights[k] * source[i];
    }
    take(y, line);
  }
}

}  // namespace

Crop whole(const Image& image) {
  return {0, 0, image.width, image.height};
}

Crop central_crop(const Image& image, double share) {
  auto side = [share](int extent) {
    return std::clamp(int(std::lround(extent * share)), 1, extent);
  };
  const int width = side(image.width), height = side(image.height);
  const int left = (image.width - width) / 2, top = (image.height - height) / 2;
  return {left, top, left + width, top + height};
}

Image cut(const Image& image, const Crop& crop) {
  Image part(crop.width(), crop.height());
  for (int y = 0; y < part.height; ++y) {
    std::memcpy(part.pixel(0, y), image.pixel(crop.left, crop.top + y), size_t(part.width) * 3);
  }
  return part;
}

std::vector<float> resize(const Image& image, const Crop& crop, Size size) {
  const size_t plane = size_t(size.positions());
  expect_memory(plane * 3 * sizeof(float),
                fmt::format("an image of {}x{}", size.height, size.width));
  std::vector<float> planes(plane * 3);
  resize_lines(image, crop, size, [&](int y, const std::vector<float>& line) {
    float* target = &planes[size_t(y) * size_t(size.width)];
    for (size_t i = 0; i < line.size(); ++i) target[i % 3 * plane + i / 3] = line[i];
  });
  return planes;
}

Image resized(const Image& image, Size size) {
  if (size == Size{image.height, image.width}) return image;
  expect_memory(size_t(size.positions()) * 3,
                fmt::format("an image of {}x{}", size.height, size.width));
  Image out(size.width, size.height);
  resize_lines(image, whole(image), size, [&](int y, const std::vector<float>& line) {
    uint8_t* target = out.pixel(0, y);
    for (float value : line) *target++ = uint8_t(std::clamp(std::lround(value), 0l, 255l));
  });
  return out;
}

Map resized(const Map& map, Size size) {
  SACT_ASSERT(map.width > 0 && map.height > 0 && size.width > 0 && size.height > 0);
  if (size == Size{map.height, map.width}) return map;
  const auto columns = bilinear_taps(map.width, size.width);
  Map wide(map.height, size.width);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const Taps& taps = columns[size_t(x)];
      float sum = 0;
      for (size_t k = 0; k < taps.weights.size(); ++k) {
        sum += taps.weights[k] * map.at(y, taps.first + int(k));
      }
      wide.at(y, x) = sum;
    }
  }
  Map out(size.height, size.width);
  const auto rows = bilinear_taps(map.height, size.height);
  for (int y = 0; y < size.height; ++y) {
    const Taps& taps = rows[size_t(y)];
    float* target = &out.at(y, 0);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      const float* source = &wide.values[size_t(taps.first + int(k)) * size_t(size.width)];
      const float weight = taps.weights[k];
      for (int x = 0; x < size.width; ++x) target[x] += weight * source[x];
    }
  }
  return out;
}

}  // namespace sact::io
