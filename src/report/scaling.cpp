// Scaling as two passes of one-dimensional weights: first the rows, then the columns.
#include "report/scaling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sact::report {
namespace {

/// How one output pixel is made from a run of input pixels.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

/// A triangle that is one input pixel wide to each side when enlarging (linear interpolation) and
/// one output pixel wide when shrinking (so that every input pixel counts equally).
std::vector<Taps> smooth_taps(int in_size, int out_size) {
  std::vector<Taps> taps(static_cast<size_t>(out_size));
  const double ratio = double(in_size) / out_size;
  const double reach = std::max(1.0, ratio);
  for (int out = 0; out < out_size; ++out) {
    const double center = (out + 0.5) * ratio - 0.5;
    const int first = std::max(0, int(std::ceil(center - reach)));
    const int last = std::min(in_size - 1, int(std::floor(center + reach)));
    Taps& tap = taps[size_t(out)];
    tap.first = first;
    double sum = 0;
    for (int in = first; in <= last; ++in) {
      const double weight = std::max(0.0, 1 - std::abs(in - center) / reach);
      tap.weights.push_back(float(weight));
      sum += weight;
    }
    for (float& weight : tap.weights) weight = float(weight / sum);
  }
  return taps;
}

int nearest_index(int out, int in_size, int out_size) {
  return int((int64_t(2 * out + 1) * in_size) / (2 * int64_t(out_size)));
}

io::Image scaled_nearest(const io::Image& image, int width, int height) {
  io::Image out(width, height);
  for (int y = 0; y < height; ++y) {
    const int source_y = nearest_index(y, image.height, height);
    for (int x = 0; x < width; ++x) {
      std::copy_n(image.pixel(nearest_index(x, image.width, width), source_y), 3, out.pixel(x, y));
    }
  }
  return out;
}

/// One row of `image` brought to the width of `taps`.
void scale_row(const io::Image& image, int y, const std::vector<Taps>& taps, float* out) {
  for (const Taps& tap : taps) {
    const uint8_t* pixel = image.pixel(tap.first, y);
    float sum[3] = {};
    for (const float weight : tap.weights) {
      for (int c = 0; c < 3; ++c) sum[c] += weight * pixel[c];
      pixel += 3;
    }
    out = std::copy_n(sum, 3, out);
  }
}

io::Image scaled_smooth(const io::Image& image, int width, int height) {
  const std::vector<Taps> columns = smooth_taps(image.width, width);
  const std::vector<Taps> rows = smooth_taps(image.height, height);
  const size_t row_size = size_t(width) * 3;
  std::vector<float> narrowed(row_size * size_t(image.height));
  for (int y = 0; y < image.height; ++y) {
    scale_row(image, y, columns, narrowed.data() + row_size * size_t(y));
  }
  io::Image out(width, height);
  std::vector<float> sum(row_size);
  for (int y = 0; y < height; ++y) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    const Taps& tap = rows[size_t(y)];
    for (size_t k = 0; k < tap.weights.size(); ++k) {
      const float* source = narrowed.data() + row_size * (size_t(tap.first) + k);
      for (size_t i = 0; i < row_size; ++i) sum[i] += tap.weights[k] * source[i];
    }
    uint8_t* target = out.pixel(0, y);
    for (size_t i = 0; i < row_size; ++i) {
      target[i] = uint8_t(std::clamp(std::lround(sum[i]), 0l, 255l));
    }
  }
  return out;
}

}  // namespace

io::Image scaled(const io::Image& image, int width, int height, Scaling scaling) {
  SACT_ASSERT(image.width > 0 && image.height > 0);
  SACT_ASSERT(image.rgb.size() == size_t(image.width) * size_t(image.height) * 3);
  SACT_ASSERT(width > 0 && height > 0);
  if (width == image.width && height == image.height) return image;
  if (scaling == Scaling::kNearest) return scaled_nearest(image, width, height);
  return scaled_smooth(image, width, height);
}

}  // namespace sact::report
