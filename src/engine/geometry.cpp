#include "engine/geometry.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sact::engine {
PaddedImages padded_images(const std::optional<StemSteps>& stem, int images, Size image) {
  if (!stem) return {};
  return {images, stem->convolution.kernel / 2, image};
}

namespace {

Geometry::Hidden hidden_of(HiddenRows layout, const Grid& from, const Grid& to, int stride) {
  if (layout == HiddenRows::kPlain) return {{}, {from.zero_row()}, {}};
  const BorderedRows rows{from};
  return {rows.all(), rows.border(), neighbour_rows(rows, to, stride)};
}

}  // namespace

Geometry::Geometry(const ModelSpec& spec, int image_count, Size image_size, HiddenRows hidden_rows)
    : image(image_size), images(image_count), first{image_count, spec.block_size(0, image_size)} {
  if (const auto steps = stem_of(spec)) add_stem(*steps);
  Grid before = first;
  for (int block = 0; block < spec.blocks(); ++block) {
    const Grid grid{images, spec.block_size(block, image)};
    const int step = spec.unit_stride(block, 0);
    blocks.push_back({before, grid, neighbour_rows(grid, grid, 1),
                      neighbour_rows(before, grid, step), strided_rows(before, grid, step),
                      hidden_of(hidden_rows, grid, grid, 1),
                      hidden_of(hidden_rows, before, grid, step)});
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

int64_t Geometry::list_bytes(const ModelSpec& spec, int images, Size image,
                             HiddenRows hidden_rows) {
  int64_t numbers = 0;  // of one image
  if (const auto stem = stem_of(spec)) {
    numbers += stem->convolution.output(image).positions() * stem->convolution.kernel;
    if (stem->pool) numbers += 9 * spec.block_size(0, image).positions();
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    numbers += (9 + 9 + 1) * spec.block_size(block, image).positions();
    if (hidden_rows == HiddenRows::kPlain) continue;
    const Size before = spec.block_size(std::max(block - 1, 0), image);
    numbers += (9 + 9) * spec.block_size(block, image).positions();
    for (const Size& size : {before, spec.block_size(block, image)}) {
      numbers += BorderedRows{{1, size}}.rows();
    }
  }
  return numbers * images * int64_t(sizeof(int32_t));
}

}  // namespace sact::engine
