#include "model/preprocess.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/text.h"

namespace sact {

View central_view(const io::Image& image, const InputSpec& input, Size size) {
  validate_image_size(size);
  return {io::central_crop(image, input.crop), size};
}

View whole_view(const io::Image& image, int side) {
  const Size size = size_keeping_aspect(image.width, image.height, side);
  validate_image_size(size, fmt::format("an image of {}x{} with its shorter side scaled to {}: ",
                                        image.height, image.width, side));
  return {io::whole(image), size};
}

std::vector<float> network_input(const io::Image& image, const io::Crop& crop, Size size,
                                 const InputSpec& input) {
  std::vector<float> planes = io::resize(image, crop, size);
  const size_t plane = size_t(size.positions());
  for (size_t c = 0; c < 3; ++c) {
    const float scale = float(1 / (255 * input.std[c]));
    const float shift = float(-input.mean[c] / input.std[c]);
    for (size_t i = 0; i < plane; ++i)
      planes[c * plane + i] = planes[c * plane + i] * scale + shift;
  }
  return planes;
}

Size size_keeping_aspect(int width, int height, int side) {
  const double scale = double(side) / std::min(width, height);
  const auto scaled = [&](int extent) {
    // The longest that an int can tell; larger than all that networks are run on.
    return std::max(side, int(std::min(std::round(extent * scale), double(INT_MAX))));
  };
  return {scaled(height), scaled(width)};
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

}  // namespace sact
