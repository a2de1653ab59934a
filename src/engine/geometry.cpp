#include "engine/geometry.h"

#include "base/error.h"
#include "base/text.h"

namespace sact::engine {
namespace {

struct Window {
  int side = 3, stride = 1;
};

Window stem_window(const ModelSpec& spec) {
  return spec.stem == Stem::kImageNet ? Window{7, 2} : Window{3, 1};
}

}  // namespace

PaddedImages padded_images(const ModelSpec& spec, int images, Size image) {
  if (spec.stem == Stem::kNone) return {};
  return {images, stem_window(spec).side / 2, image};
}

Geometry::Geometry(const ModelSpec& spec, int image_count, Size image_size)
    : image(image_size), images(image_count), first{image_count, spec.block_size(0, image_size)} {
  if (spec.stem != Stem::kNone) add_stem(spec);
  Grid before = first;
  for (int block = 0; block < spec.blocks(); ++block) {
    const Grid grid{images, spec.block_size(block, image)};
    const int step = spec.unit_stride(block, 0);
    blocks.push_back({before, grid, neighbour_rows(grid, grid, 1),
                      neighbour_rows(before, grid, step), strided_rows(before, grid, step)});
    before = grid;
  }
}

void Geometry::add_stem(const ModelSpec& spec) {
  const auto [side, stride] = stem_window(spec);
  input = padded_images(spec, images, image);
  if (input.elements() > INT32_MAX) {
    fail("{} of {}x{} cannot be run at once: {} million pixels are the most; use smaller images",
         counted(images, "image"), image.height, image.width, INT32_MAX / 3'000'000);
  }
  stem = {images, spec.stem_size(image)};
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
  if (spec.stem == Stem::kImageNet) pool_rows = neighbour_rows(stem, first, 2);
}

int64_t Geometry::list_bytes(const ModelSpec& spec, int images, Size image) {
  int64_t numbers = 0;  // of one image
  if (spec.stem != Stem::kNone) {
    numbers += spec.stem_size(image).positions() * stem_window(spec).side;
    if (spec.stem == Stem::kImageNet) numbers += 9 * spec.block_size(0, image).positions();
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    numbers += (9 + 9 + 1) * spec.block_size(block, image).positions();
  }
  return numbers * images * int64_t(sizeof(int32_t));
}

}  // namespace sact::engine
