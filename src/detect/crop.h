// The features of boxes, all brought to one size: bilinear crops, and crops with max pooling.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "base/size.h"
#include "base/thread_team.h"
#include "detect/box.h"

namespace sact::detect {

/// Features of one image: a row of `channels` values for each position, positions row by row (NHWC
/// without N).
struct FeatureMap {
  const float* values = nullptr;
  Size size;
  int channels = 0;
  int64_t stride = channels;  // values from one position to the next

  const float* row(int64_t position) const { return values + position * stride; }
};

/// A box in shares of the feature map: 0 is the middle of the first position and 1 that of the
/// last, as in TensorFlow's crop_and_resize. May reach outside of [0, 1]; y2 < y1 or x2 < x1 give a
/// mirrored crop.
struct CropBox {
  float y1 = 0, x1 = 0, y2 = 1, x2 = 1;
};

/// A box in pixels of an image of this size: 0 becomes 0 and the image's side 1.
inline CropBox crop_box(const Box& box, Size image) {
  const float height = float(image.height), width = float(image.width);
  return {box.y0 / height, box.x0 / width, box.y1 / height, box.x1 / width};
}

/// Where one row or column of a crop is read from: value = low + weight * (high - low). Outside of
/// the feature map, or at no number, the value is 0 instead.
struct CropSample {
  int32_t low = 0, high = 0;
  float weight = 0;
  bool inside = false;
};

/// Sample `index` of `count` (> 1) between the edges `first` and `last` of a box, on a side of
/// `positions`: at first * (positions - 1) + index * (last - first) * (positions - 1) / (count -
/// 1). Everything that crops uses this function. It works in double precision and in an order that
/// meets the box's edges exactly; in single precision the last sample of a box that ends at 1 may
/// come to lie outside by rounding.
inline CropSample crop_sample(float first, float last, int positions, int index, int count) {
  const double along = (double(first) * (count - 1 - index) + double(last) * index) / (count - 1);
  const double at = along * (positions - 1);
  if (!(at >= 0 && at <= positions - 1)) return {};
  const double low = std::floor(at);
  return {int32_t(low), int32_t(std::ceil(at)), float(at - low), true};
}

/// The box as `crop` x `crop` positions with one bilinear sample each, the outermost ones on the
/// box's edges. Writes crop * crop rows of `channels` values.
void crop_and_resize(const FeatureMap& features, const CropBox& box, int crop, float* out);

struct CropSettings {
  int crop = 28;  // samples along each side
  int pool = 4;   // of which so many become one by their maximum; divides `crop`
  int cells() const { return crop / pool; }
};

/// The maxima over pool x pool samples of `crop_and_resize`, without its values ever being stored:
/// for each box cells() * cells() rows of `channels` values, boxes one after another.
void crop_and_pool(const FeatureMap& features, std::span<const CropBox> boxes,
                   const CropSettings& settings, ThreadTeam& team, float* out);

}  // namespace sact::detect
