// Whether a 3x3 convolution runs over tiles (kernels/cpu/winograd.h) or as a direct product.
#pragma once

#include <cstdint>

#include "kernels/cpu/operand_types.h"

namespace sact::engine {

/// A 3x3 convolution of stride 1.
struct WindowLayer {
  int depth = 0, columns = 0;
  kernels::DataType type = kernels::DataType::kFloat32;
};

/// What a direct product over so many positions costs, and a convolution over so many tiles: both
/// in microseconds of the machine that they were measured on. Threads do not count: what a network
/// gives must not depend on how many there are.
double direct_cost(const WindowLayer& layer, int64_t rows);
double tile_cost(const WindowLayer& layer, int side, int64_t tiles);

/// The side of the tiles that a layer on all positions of images of one size has; 0: direct.
int tile_side(const WindowLayer& layer, int images, int height, int width);

}  // namespace sact::engine
