#include "engine/geometry.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sact::engine {

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
  const bool pooled = spec.stem == Stem::kImageNet;
  const int side = pooled ? 7 : 3, stride = pooled ? 2 : 1;
  input = {images, side / 2, image};
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
  if (pooled) pool_rows = neighbour_rows(stem, first, 2);
}

int Geometry::most_rows() const {
  int most = first.rows();
  for (const Block& block : blocks) most = std::max(most, block.grid.rows());
  return most;
}

}  // namespace sact::engine
