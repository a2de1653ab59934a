#include "engine/geometry.h"

#include "base/error.h"
#include "base/text.h"

namespace sact::engine {
PaddedImages padded_images(const std::optional<StemSteps>& stem, int images, Size image) {
  if (!stem) return {};
  return {images, stem->convolution.kernel / 2, image};
}

Geometry::Geometry(const ModelSpec& spec, int image_count, Size image_size)
    : image(image_size), images(image_count), first{image_count, spec.block_size(0, image_size)} {
  if (const auto steps = stem_of(spec)) add_stem(*steps);
  Grid before = first;
  for (int block = 0; block < spec.blocks(); ++block) {
    const Grid grid{images, spec.block_size(block, image)};
    const int step = spec.unit_stride(block, 0);
    blocks.push_back({before, grid, neighbour_rows(grid, grid, 1),
                      neighbour_rows(before, grid, step), strided_rows(before, grid, step)});
    before = grid;
  }
}

void Geometry::add_stem(const StemSteps& steps) {
  const int side = steps.convolution.kernel, stride = steps.convolution.stride;
  input = padded_images(steps, images, image);
  if (input.elements() > INT32_MAX) {
    fail("{} of {}x{} cannot be run at once: {} million pixels are the most; use smaller images",
         pluralize(images, "image"), image.height, image.width, INT32_MAX / 3'000'000);
  }
  stem = {images, steps.convolution.output(image)};
  stem_taps.reserve(size_t(stem.rows()) * size_t(side));
  for (int i = 0; i < images; ++i) {
    for (int y = 0; y < stem.size.height; ++y) {
      for (int x = 0; x < stem.size.width; ++x) {
        for (int tap = 0; tap < side; ++tap) {
          stem_taps.push_back(
              int32_t(input.offset(i, y * stride + tap - side / 2, x * stride - side / 2)));
        }
      }
    }
  }
  if (steps.pool) pool_rows = pooled_rows(stem, first, *steps.pool);
}

int64_t Geometry::list_bytes(const ModelSpec& spec, int images, Size image) {
  int64_t numbers = 0;  // of one image
  if (const auto stem = stem_of(spec)) {
    numbers += stem->convolution.output(image).positions() * stem->convolution.kernel;
    if (stem->pool) numbers += 9 * spec.block_size(0, image).positions();
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    numbers += (9 + 9 + 1) * spec.block_size(block, image).positions();
  }
  return numbers * images * int64_t(sizeof(int32_t));
}

}  // namespace sact::engine
