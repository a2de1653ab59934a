// Convolutions over tiles in plain C++: matrices times matrices, as they are defined.
#include "kernels/cpu/scalar/winograd.h"
#include "kernels/cpu/scalar/product.h"

namespace sact::kernels::scalar {
namespace {

/// output = matrix * input * matrix', with `rows` rows and columns of it.
void transform_both_ways(const double* matrix, int rows, int inner, const double* input,
                         double* output) {
  constexpr int kStride = 6;
  double half[6][6] = {};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < inner; ++j) {
      for (int k = 0; k < inner; ++k) half[i][j] += matrix[i * kStride + k] * input[k * inner + j];
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) {
      output[i * rows + j] = 0;
      for (int k = 0; k < inner; ++k) {
        output[i * rows + j] += half[i][k] * matrix[j * kStride + k];
      }
    }
  }
}

void transform(const TileConvolution& c) {
  const int inputs = c.grid.side + 2, products = c.grid.products();
  const TileTransforms& transforms = tile_transforms(c.grid.side);
  for (int number = c.first; number < c.last; ++number) {
    const float* rows[kMostTileProducts];
    c.grid.side == 2 ? rows_of_tile<4>(c, c.tile(number), rows)
                     : rows_of_tile<6>(c, c.tile(number), rows);
    for (int k = 0; k < c.product.depth; ++k) {
      double before[kMostTileProducts], after[kMostTileProducts];
      for (int i = 0; i < products; ++i) before[i] = rows[i][k];
      transform_both_ways(transforms.inputs[0], inputs, inputs, before, after);
      for (int i = 0; i < products; ++i) {
        c.transformed[i * c.product_stride + number * c.tile_stride + k] = float(after[i]);
      }
    }
  }
}

void product(const TileConvolution& c) {
  const RowProduct& p = c.product;
  const int side = c.grid.side, products = c.grid.products();
  const TileTransforms& transforms = tile_transforms(side);
  const int last = std::min(p.columns, p.last_panel * kPanel);
  const int64_t tap_size = int64_t(p.depth) * kPanel;
  for (int number = c.first; number < c.last; ++number) {
    TileOutput wanted[16];
    const int count = wanted_outputs(c, c.tile(number), wanted);
    for (int column = p.first_panel * kPanel; column < last; ++column) {
      const float* weights = static_cast<const float*>(p.weights) +
                             column / kPanel * products * tap_size + column % kPanel;
      double sums[kMostTileProducts] = {}, outputs[16];
      for (int i = 0; i < products; ++i) {
        const float* values = c.transformed + i * c.product_stride + number * c.tile_stride;
        for (int k = 0; k < p.depth; ++k) {
          sums[i] += double(values[k]) * weights[i * tap_size + int64_t(k) * kPanel];
        }
      }
      transform_both_ways(transforms.outputs[0], side, side + 2, sums, outputs);
      for (int i = 0; i < count; ++i) {
        const float sum = float(outputs[wanted[i].number]) + p.bias[column];
        finish<Float32, Float32>(p, wanted[i].row, column, sum);
      }
    }
  }
}

}  // namespace

TileFunctions tile_functions() {
  return {transform, product};
}

}  // namespace sact::kernels::scalar
