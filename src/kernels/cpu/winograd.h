// 3x3 convolutions of stride 1 with fewer multiplications: Winograd's transforms over tiles.
//
// A tile of side x side outputs is made of (side + 2)² products, where the direct form has 9 of
// them for each output: 4 an output with tiles of 2x2, 2.25 with 4x4. Its (side + 2)² inputs are
// transformed, each of the products sums over the channels, and the sums are transformed back.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cpu/calls.h"
#include "kernels/cpu/weights.h"

namespace sact::kernels {

/// The tiles of images of one size, numbered line by line and image by image. Those at the right
/// and at the bottom may reach beyond their image.
struct TileGrid {
  int images = 0, height = 0, width = 0;
  int side = 2;  // of a tile, in outputs: one of kTileSides

  int across() const { return (width + side - 1) / side; }
  int down() const { return (height + side - 1) / side; }
  int count() const { return images * down() * across(); }
  int products() const { return (side + 2) * (side + 2); }

  struct Place {
    int64_t first_row;  // of its image
    int y, x;           // of its first output
  };
  Place place(int tile) const {
    const int line = tile / across();
    return {int64_t(line / down()) * height * width, line % down() * side, tile % across() * side};
  }
};

inline constexpr std::array<int, 2> kTileSides = {2, 4};
inline constexpr int kMostTileProducts = 36;

/// A convolution for a list of tiles, in two steps: transforms of its inputs, and products that
/// read those. Each does the tiles [first, last) of the list, so that threads can share them. Rows
/// of inputs and outputs are positions of the grid.
struct TileConvolution {
  TileGrid grid;
  const int32_t* tiles = nullptr;  // null: all, in order
  int first = 0, last = 0;         // in the list
  /// Of all positions, those whose inputs there are, and whose outputs are asked for; null: all.
  /// Other inputs are not read and count as zeros, which is exact: no output that is asked for may
  /// have one in its window. Other outputs are not written.
  const uint8_t *present = nullptr, *wanted = nullptr;
  /// [product, tile of the list, depth], with these distances.
  void* transformed = nullptr;  // operands, as its rows
  int64_t product_stride = 0, tile_stride = 0;
  /// Input, weights (from transformed_weights()), bias, panels and output as of a product;
  /// `zero_row` is a row of zeros. It has no lists.
  RowProduct product;

  int tile(int number) const { return tiles ? tiles[number] : number; }
  bool reads(int64_t row) const { return !present || present[row]; }
  bool wants(int64_t row) const { return !wanted || wanted[row]; }
};

/// What an instruction set does of that, for one type of operands.
struct TileFunctions {
  void (*transform)(const TileConvolution&) = nullptr;
  void (*product)(const TileConvolution&) = nullptr;         // stores the type of its operands
  void (*product_to_f32)(const TileConvolution&) = nullptr;  // stores 32 bits
  /// Numbers of a transformed row are written in whole multiples of so many.
  int depth_step = 1;
};

/// The rows that a tile reads: `rows` gets (side + 2)² pointers.
template <int kInputs, typename Element>
inline void rows_of_tile(const TileConvolution& c, int tile, const Element** rows) {
  const TileGrid& grid = c.grid;
  const auto* input = static_cast<const Element*>(c.product.input);
  const Element* zeros = input + c.product.zero_row * c.product.input_stride;
  const TileGrid::Place place = grid.place(tile);
  for (int i = 0; i < kInputs; ++i) {
    const int y = place.y - 1 + i;
    const bool line_inside = y >= 0 && y < grid.height;
    for (int j = 0; j < kInputs; ++j) {
      const int x = place.x - 1 + j;
      const int64_t row = place.first_row + int64_t(y) * grid.width + x;
      const bool inside = line_inside && x >= 0 && x < grid.width;
      rows[i * kInputs + j] = inside && c.reads(row) ? input + row * c.product.input_stride : zeros;
    }
  }
}

/// An output of a tile: its number there, and its row.
struct TileOutput {
  int number;
  int32_t row;
};

/// Those that are asked for; returns how many.
inline int wanted_outputs(const TileConvolution& c, int tile, TileOutput (&to)[16]) {
  const TileGrid& grid = c.grid;
  const TileGrid::Place place = grid.place(tile);
  int count = 0;
  for (int i = 0; i < grid.side && place.y + i < grid.height; ++i) {
    for (int j = 0; j < grid.side && place.x + j < grid.width; ++j) {
      const int64_t row = place.first_row + int64_t(place.y + i) * grid.width + place.x + j;
      if (c.wants(row)) to[count++] = {i * grid.side + j, int32_t(row)};
    }
  }
  return count;
}

/// The matrices of F(side x side, 3x3): inputs are transformed by `inputs` from both sides, weights
/// by `weights` and sums of products by `outputs`. Unused numbers are zeros.
struct TileTransforms {
  double inputs[6][6];   // [side + 2, side + 2]
  double weights[6][3];  // [side + 2, 3]
  double outputs[4][6];  // [side, side + 2]
};
const TileTransforms& tile_transforms(int side);

/// Bytes of transformed weights, which have the type of the direct ones.
int64_t transformed_bytes(const PackedWeights& direct, int side);

/// Weights of 3x3 taps as convolutions over tiles read them, in panels [first, last) of `to`, which
/// has transformed_bytes(): for each product a tap. Rounded once.
void transform_weights(const PackedWeights& direct, int side, int first, int last, void* to);

/// The same with all panels.
PackedWeights transformed_weights(const PackedWeights& direct, int side, const void* data);

}  // namespace sact::kernels
