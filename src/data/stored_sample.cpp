// Squashing images to the storage size.
#include "data/stored_sample.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/resize.h"

namespace sact::data {
namespace {

constexpr int kMaxSide = 8192;

NormalizedBox largest(const std::vector<NormalizedBox>& boxes) {
  if (boxes.empty()) return {};
  auto area = [](const NormalizedBox& box) { return (box.x1 - box.x0) * (box.y1 - box.y0); };
  return *std::max_element(boxes.begin(), boxes.end(),
                           [&](const auto& a, const auto& b) { return area(a) < area(b); });
}

}  // namespace

void squash(const io::RgbImage& image, Size size, uint8_t* planes) {
  if (Size{image.height, image.width} == size) {
    const size_t plane = size_t(size.positions());
    for (size_t i = 0; i < plane; ++i) {
      for (size_t c = 0; c < 3; ++c) planes[c * plane + i] = image.rgb[i * 3 + c];
    }
    return;
  }
  const auto values = io::resize(image, io::whole(image), size);
  // Half of (twice the value, plus one), in whole numbers: rounds to the nearest without a call.
  std::transform(values.begin(), values.end(), planes, [](float value) {
    return uint8_t((int(std::clamp(value, 0.0f, 255.0f) * 2) + 1) / 2);
  });
}

StoredSample store_sample(const Dataset& dataset, int64_t index, Size size, uint8_t* planes) {
  const Sample sample = dataset.load(index, std::max(size.height, size.width));
  SACT_ASSERT(sample.label >= 0 && sample.label < dataset.classes());
  squash(sample.image, size, planes);
  return {int32_t(sample.label), float(sample.image.width) / float(sample.image.height),
          largest(sample.boxes)};
}

int suitable_storage_size(const Dataset& dataset, int size, double crop) {
  constexpr int64_t kLooked = 16;
  constexpr int kKept = 512;  // a side that need not be reduced to save memory
  const int enough = int(std::ceil(size / crop));
  int common = 0;
  for (int64_t i = 0; i < std::min(dataset.size(), kLooked); ++i) {
    try {
      const io::RgbImage image = dataset.load(i * dataset.size() / kLooked).image;
      if (image.width != image.height || (common != 0 && image.width != common)) return enough;
      common = image.width;
    } catch (const Error&) {  // an unreadable image says nothing about the others
    }
  }
  return common >= 32 && common <= std::max(2 * enough, kKept) ? common : enough;
}

void check_storage_size(Size size) {
  if (std::min(size.height, size.width) >= 1 && std::max(size.height, size.width) <= kMaxSide) {
    return;
  }
  fail("the storage size of images must be from 1 to {} pixels a side, not {}x{}", kMaxSide,
       size.height, size.width);
}

}  // namespace sact::data
