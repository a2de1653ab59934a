#include "model/preprocess.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/detection.h"

namespace sact {
namespace {

View with_aspect(const io::PixelView& image, int side) {
  const Size size = size_keeping_aspect(image.width, image.height, side);
  validate_image_size(size, fmt::format("an image of {}x{} with its shorter side scaled to {}: ",
                                        image.height, image.width, side));
  return {io::whole(image), size};
}

size_t values_of(Size size) {
  return 3 * size_t(size.positions());
}

}  // namespace

View view_of(const io::PixelView& image, const InputSpec& input, const ViewOptions& options) {
  const bool own = options.size == Size{0, 0};
  const Size size = own ? Size{input.size, input.size} : options.size;
  if (options.framing == Framing::kKeepAspect) return with_aspect(image, size.height);
  validate_image_size(size);
  if (options.framing == Framing::kStretched) return {io::whole(image), size};
  return {io::central_crop(image, input.crop), size};
}

View detection_view(const io::PixelView& image, const DetectionSpec& detection) {
  return {io::whole(image), detection_size(detection, {image.height, image.width})};
}

void fill_network_pixels(const io::PixelView& image, const View& view, const InputSpec& input,
                         std::span<float> pixels) {
  SACT_ASSERT(pixels.size() == values_of(view.size));
  io::resize_pixels(image, view.crop, view.size, pixels);
  float scale[3], shift[3];
  for (size_t c = 0; c < 3; ++c) {
    scale[c] = float(1 / (255 * input.std[c]));
    shift[c] = float(-input.mean[c] / input.std[c]);
  }
  for (size_t i = 0; i < pixels.size(); i += 3) {
    for (size_t c = 0; c < 3; ++c) pixels[i + c] = pixels[i + c] * scale[c] + shift[c];
  }
}

void append_network_pixels(const io::PixelView& image, const View& view, const InputSpec& input,
                           std::vector<float>& pixels) {
  const size_t before = pixels.size(), more = values_of(view.size);
  expect_memory(more * sizeof(float),
                fmt::format("an image of {}x{}", view.size.height, view.size.width));
  pixels.resize(before + more);
  fill_network_pixels(image, view, input, std::span(pixels).subspan(before));
}

std::vector<float> network_pixels(const io::PixelView& image, const View& view,
                                  const InputSpec& input) {
  std::vector<float> pixels;
  append_network_pixels(image, view, input, pixels);
  return pixels;
}

std::vector<float> network_input(const io::PixelView& image, const io::Crop& crop, Size size,
                                 const InputSpec& input) {
  const std::vector<float> pixels = network_pixels(image, {crop, size}, input);
  std::vector<float> planes(pixels.size());
  const size_t plane = size_t(size.positions());
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < 3; ++c) planes[c * plane + i] = pixels[i * 3 + c];
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
