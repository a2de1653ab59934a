#include "model/detection.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/architecture.h"

namespace sact {

ModelSpec extractor_spec(const ModelSpec& detector) {
  SACT_ASSERT(detector.detection);
  ModelSpec spec = detector;
  spec.units.pop_back();
  spec.classes = 0;
  spec.labels.clear();
  spec.detection.reset();
  return spec;
}

ModelSpec box_spec(const ModelSpec& detector) {
  SACT_ASSERT(detector.detection);
  ModelSpec spec = detector;
  spec.stem = Stem::kNone;
  spec.units = {detector.units.back()};
  spec.width = detector.block_width(detector.blocks() - 1);
  spec.classes = detector.outputs();
  spec.labels.clear();
  spec.detection.reset();
  return spec;
}

ModelSpec image_network(const ModelSpec& spec) {
  return spec.detection ? extractor_spec(spec) : spec;
}

Size own_size(const ModelSpec& spec) {
  const int side = spec.detection ? spec.detection->shorter_side : spec.input.size;
  return {side, side};
}

std::string box_weight_name(const ModelSpec& detector, const std::string& name) {
  const std::string prefix = block_prefix(detector, 0);
  if (!name.starts_with(prefix)) return name;
  return block_prefix(detector, detector.blocks() - 1) + name.substr(prefix.size());
}

int feature_stride(const ModelSpec& detector) {
  return detector.block_stride(detector.blocks() - 2);
}

Size detection_size(const DetectionSpec& detection, Size image) {
  const auto [shorter, longer] = std::minmax(image.height, image.width);
  const double scale =
      std::min(double(detection.shorter_side) / shorter, double(kMaxImageSide) / longer);
  const auto scaled = [scale](int extent) { return int(std::round(extent * scale)); };
  const Size size{scaled(image.height), scaled(image.width)};
  validate_image_size(size, fmt::format("an image of {}x{} pixels (width x height) is too narrow: ",
                                        image.width, image.height));
  return size;
}

}  // namespace sact
