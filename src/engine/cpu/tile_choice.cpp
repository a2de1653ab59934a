#include "engine/cpu/tile_choice.h"

#include "kernels/cpu/winograd.h"

namespace sact::engine {
namespace {

// Two cores of Emerald Rapids, weights from memory.
constexpr double kOperations = 330e3;        // a microsecond, in products of long rows of 32 bits
constexpr double kWeightBytes = 25e3;        // a microsecond
constexpr double kTransformed = 1.0 / 16e3;  // microseconds for a number, into or out of products

/// A weight counts the bytes of its type, though those of 32 bits may be stored in 16: what a
/// network gives must not depend on that.
double product_cost(const WindowLayer& layer, int64_t rows, int products) {
  const double size = double(layer.depth) * layer.columns * products;
  const int bytes = kernels::operand_type(layer.type).weights.bytes;
  const double rate = 4.0 / bytes;  // numbers of half the bytes: twice as many at a time
  return size * (2.0 * double(rows) / (rate * kOperations) + bytes / kWeightBytes);
}

}  // namespace

double direct_cost(const WindowLayer& layer, int64_t rows) {
  return product_cost(layer, rows, 9);
}

double tile_cost(const WindowLayer& layer, int side, int64_t tiles) {
  const int products = (side + 2) * (side + 2);
  const double numbers = double(tiles) * products * (layer.depth + layer.columns);
  return product_cost(layer, tiles, products) + kTransformed * numbers;
}

int tile_side(const WindowLayer& layer, int images, int height, int width) {
  int best = 0;
  double least = direct_cost(layer, int64_t(images) * height * width);
  for (const int side : kernels::kTileSides) {
    if (side > kernels::operand_type(layer.type).largest_tile) break;
    const kernels::TileGrid grid{images, height, width, side};
    const double cost = tile_cost(layer, side, grid.count());
    if (cost >= least) continue;
    least = cost;
    best = side;
  }
  return best;
}

}  // namespace sact::engine
