#include "detect/anchors.h"

#include <cmath>

#include "base/error.h"
#include "model/detection.h"

namespace sact::detect {

AnchorSettings anchor_settings(const ModelSpec& detector) {
  const DetectionSpec& detection = *detector.detection;
  return {{detection.anchor_sizes.begin(), detection.anchor_sizes.end()},
          {detection.anchor_ratios.begin(), detection.anchor_ratios.end()},
          feature_stride(detector)};
}

std::vector<Box> make_anchors(const AnchorSettings& settings, Size grid) {
  SACT_ASSERT(settings.stride > 0 && grid.height >= 0 && grid.width >= 0);
  std::vector<Box> shapes;  // about (0, 0)
  for (const float size : settings.sizes) {
    for (const float ratio : settings.ratios) {
      SACT_ASSERT(size > 0 && ratio > 0);
      const float half_height = size * std::sqrt(ratio) / 2,
                  half_width = size / std::sqrt(ratio) / 2;
      shapes.push_back({-half_width, -half_height, half_width, half_height});
    }
  }
  std::vector<Box> anchors;
  anchors.reserve(size_t(grid.positions()) * shapes.size());
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const float cx = (float(x) + 0.5f) * float(settings.stride);
      const float cy = (float(y) + 0.5f) * float(settings.stride);
      for (const Box& shape : shapes) {
        anchors.push_back({cx + shape.x0, cy + shape.y0, cx + shape.x1, cy + shape.y1});
      }
    }
  }
  return anchors;
}

}  // namespace sact::detect
