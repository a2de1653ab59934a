#include "io/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/memory.h"

namespace sact::io {
namespace {

/// A triangle filter from `in` pixels to `out` pixels along one axis: for every output pixel the
/// first input pixel that counts, and the weights from there on.
struct Taps {
  std::vector<int> first;      // of each output pixel
  std::vector<size_t> start;   // its weights: from start[i] to start[i + 1]
  std::vector<float> weights;  // of all

  std::span<const float> of(int i) const {
    return std::span(weights).subspan(start[size_t(i)], start[size_t(i) + 1] - start[size_t(i)]);
  }
};

Taps bilinear_taps(int in, int out) {
  const double scale = double(in) / out;
  const double support = std::max(scale, 1.0);
  Taps taps;
  taps.start.push_back(0);
  for (int i = 0; i < out; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(int(center - support + 0.5), 0);
    const int last = std::min(int(center + support + 0.5), in);
    double sum = 0;
    for (int j = first; j < last; ++j) {
      const double weight = std::max(0.0, 1 - std::abs(j + 0.5 - center) / support);
      taps.weights.push_back(float(weight));
      sum += weight;
    }
    for (size_t k = taps.start.back(); k < taps.weights.size(); ++k) {
      taps.weights[k] = float(taps.weights[k] / sum);
    }
    taps.first.push_back(first);
    taps.start.push_back(taps.weights.size());
  }
  return taps;
}

/// A colour and an unused number: a vector of the compilers, which are slow to see one themselves.
using Pixel [[gnu::vector_size(16)]] = float;

/// Resizes the part inside `crop` and gives `take(y, line)` each line in turn.
template <typename Take>
void resize_lines(const PixelView& image, const Crop& crop, Size size, Take&& take) {
  SACT_ASSERT(crop.left >= 0 && crop.top >= 0 && crop.right <= image.width &&
              crop.bottom <= image.height && crop.width() > 0 && crop.height() > 0);
  SACT_ASSERT(size.width > 0 && size.height > 0);
  const Taps columns = bilinear_taps(crop.width(), size.width);
  const Taps rows = bilinear_taps(crop.height(), size.height);
  const size_t width = size_t(size.width);

  // Horizontally first. Of the rows this gives only the ones that the current line needs are kept:
  // a picture of one column and a million rows must not become a large one.
  size_t window = 1;
  for (int y = 0; y < size.height; ++y) window = std::max(window, rows.of(y).size());
  std::vector<Pixel> wide(size_t(crop.width())), narrow(window * width);
  std::vector<uint8_t> unpacked(image.order == PixelOrder::kRgb ? 0 : wide.size() * 3);
  auto narrow_row = [&](int y) { return &narrow[size_t(y) % window * width]; };
  auto fill_row = [&](int y) {
    const uint8_t* source = image.pixel(crop.left, crop.top + y);
    if (!unpacked.empty()) {
      unpack_pixels(source, image.order, crop.width(), unpacked.data());
      source = unpacked.data();
    }
    for (Pixel& pixel : wide) {
      pixel = Pixel{float(source[0]), float(source[1]), float(source[2])};
      source += 3;
    }
    Pixel* target = narrow_row(y);
    for (int x = 0; x < size.width; ++x) {
      const Pixel* from = &wide[size_t(columns.first[size_t(x)])];
      Pixel sum{};
      for (const float weight : columns.of(x)) sum += weight * *from++;
      *target++ = sum;
    }
  };

  int filled = 0;
  std::vector<Pixel> line(width);
  for (int y = 0; y < size.height; ++y) {
    const std::span<const float> weights = rows.of(y);
    const int first = rows.first[size_t(y)], last = first + int(weights.size());
    for (filled = std::max(filled, first); filled < last; ++filled) fill_row(filled);
    std::fill(line.begin(), line.end(), Pixel{});
    for (size_t k = 0; k < weights.size(); ++k) {
      const Pixel* source = narrow_row(first + int(k));
      for (size_t x = 0; x < width; ++x) line[x] += weights[k] * source[x];
    }
    take(y, std::span<const Pixel>(line));
  }
}

/// The nearest of 0 ... 255, for values that no rounding has taken below -0.5.
uint8_t rounded(float value) {
  return uint8_t(std::min(value + 0.5f, 255.0f));
}

}  // namespace

Crop whole(const PixelView& image) {
  return {0, 0, image.width, image.height};
}

Crop central_crop(const PixelView& image, double share) {
  auto side = [share](int extent) {
    return std::clamp(int(std::lround(extent * share)), 1, extent);
  };
  const int width = side(image.width), height = side(image.height);
  const int left = (image.width - width) / 2, top = (image.height - height) / 2;
  return {left, top, left + width, top + height};
}

RgbImage cut(const RgbImage& image, const Crop& crop) {
  RgbImage part(crop.width(), crop.height());
  for (int y = 0; y < part.height; ++y) {
    std::memcpy(part.pixel(0, y), image.pixel(crop.left, crop.top + y), size_t(part.width) * 3);
  }
  return part;
}

std::vector<float> resize(const RgbImage& image, const Crop& crop, Size size) {
  const size_t plane = size_t(size.positions());
  expect_memory(plane * 3 * sizeof(float),
                fmt::format("an image of {}x{}", size.height, size.width));
  std::vector<float> planes(plane * 3);
  resize_lines(image, crop, size, [&](int y, std::span<const Pixel> line) {
    float* target = &planes[size_t(y) * size_t(size.width)];
    for (size_t c = 0; c < 3; ++c) {
      for (size_t x = 0; x < line.size(); ++x) target[c * plane + x] = line[x][c];
    }
  });
  return planes;
}

void resize_pixels(const PixelView& image, const Crop& crop, Size size, std::span<float> pixels) {
  SACT_ASSERT(pixels.size() == 3 * size_t(size.positions()));
  resize_lines(image, crop, size, [&](int y, std::span<const Pixel> line) {
    float* target = pixels.data() + 3 * size_t(y) * line.size();
    for (const Pixel& pixel : line) {
      for (int c = 0; c < 3; ++c) *target++ = pixel[c];
    }
  });
}

RgbImage resized(const RgbImage& image, Size size) {
  if (size == Size{image.height, image.width}) return image;
  expect_memory(size_t(size.positions()) * 3,
                fmt::format("an image of {}x{}", size.height, size.width));
  RgbImage out(size.width, size.height);
  resize_lines(image, whole(image), size, [&](int y, std::span<const Pixel> line) {
    uint8_t* target = out.pixel(0, y);
    for (const Pixel& pixel : line) {
      for (int c = 0; c < 3; ++c) *target++ = rounded(pixel[c]);
    }
  });
  return out;
}

Map resized(const Map& map, Size size) {
  SACT_ASSERT(map.width > 0 && map.height > 0 && size.width > 0 && size.height > 0);
  if (size == Size{map.height, map.width}) return map;
  const Taps columns = bilinear_taps(map.width, size.width);
  Map wide(map.height, size.width);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int from = columns.first[size_t(x)];
      float sum = 0;
      for (const float weight : columns.of(x)) sum += weight * map.at(y, from++);
      wide.at(y, x) = sum;
    }
  }
  Map out(size.height, size.width);
  const Taps rows = bilinear_taps(map.height, size.height);
  for (int y = 0; y < size.height; ++y) {
    int from = rows.first[size_t(y)];
    float* target = &out.at(y, 0);
    for (const float weight : rows.of(y)) {
      const float* source = &wide.values[size_t(from++) * size_t(size.width)];
      for (int x = 0; x < size.width; ++x) target[x] += weight * source[x];
    }
  }
  return out;
}

}  // namespace sact::io
