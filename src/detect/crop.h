// The features of boxes, all brought to one size: bilinear crops, and crops with max pooling.
#pragma once

#include <cstdint>
#include <span>

#include "base/size.h"
#include "base/thread_team.h"
#include "detect/box.h"
#include "detect/crop_sample.h"

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

/// A box in pixels of an image of this size: 0 becomes 0 and the image's side 1.
inline CropBox crop_box(const Box& box, Size image) {
  const float height = float(image.height), width = float(image.width);
  return {box.y0 / height, box.x0 / width, box.y1 / height, box.x1 / width};
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
