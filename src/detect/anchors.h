// Anchors: the boxes that the region proposal network refines, the same at every grid position.
#pragma once

#include <vector>

#include "base/size.h"
#include "detect/box.h"
#include "model/spec.h"

namespace sact::detect {

struct AnchorSettings {
  std::vector<float> sizes = {64, 128, 256, 512};  // roots of the areas, in pixels
  std::vector<float> ratios = {0.5f, 1, 2};        // height / width
  int stride = 16;                                 // pixels between grid positions

  int per_cell() const { return int(sizes.size() * ratios.size()); }
};

/// Those of a detector.
AnchorSettings anchor_settings(const ModelSpec& detector);

/// The anchors of a grid of feature positions, in pixels of the image. Those of cell (y, x) are
/// centred at ((x + 0.5) * stride, (y + 0.5) * stride). Order: row of the grid, column, size,
/// ratio; so anchor k of cell (y, x) is number (y * grid.width + x) * per_cell() + k, and k is
/// size * ratios.size() + ratio. They reach beyond the image where they do.
std::vector<Box> make_anchors(const AnchorSettings& settings, Size grid);

}  // namespace sact::detect
