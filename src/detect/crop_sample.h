// Where the samples of a crop lie, the same on every device.
#pragma once

#include <cstdint>

namespace sact::detect {

/// A box in shares of the feature map: 0 is the middle of the first position and 1 that of the
/// last, as in TensorFlow's crop_and_resize. May reach outside of [0, 1]; y2 < y1 or x2 < x1 give a
/// mirrored crop.
struct CropBox {
  float y1 = 0, x1 = 0, y2 = 1, x2 = 1;
};

/// Where one row or column of a crop is read from: value = low + weight * (high - low). Outside of
/// the feature map, or at no number, the value is 0 instead.
/// (Without initial values: CUDA's shared memory has none.)
struct CropSample {
  int32_t low, high;
  float weight;
  bool inside;
};

/// Sample `index` of `count` (> 1) between the edges `first` and `last` of a box, on a side of
/// `positions`: at first * (positions - 1) + index * (last - first) * (positions - 1) / (count -
/// 1). Everything that crops uses this function. It works in double precision and in an order that
/// meets the box's edges exactly; in single precision the last sample of a box that ends at 1 may
/// come to lie outside by rounding. (constexpr makes it callable in CUDA kernels.)
constexpr CropSample crop_sample(float first, float last, int positions, int index, int count) {
  const double along = (double(first) * (count - 1 - index) + double(last) * index) / (count - 1);
  const double at = along * (positions - 1);
  if (!(at >= 0 && at <= positions - 1)) return {};
  const int32_t low = int32_t(at);
  return {low, low < at ? low + 1 : low, float(at - low), true};
}

}  // namespace sact::detect
