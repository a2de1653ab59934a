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

template <typename Type>
void transform(const TileConvolution& c) {
  using Element = typename Type::Element;
  const int inputs = c.grid.side + 2, products = c.grid.products();
  const TileTransforms& transforms = tile_transforms(c.grid.side);
  for (int number = c.first; number < c.last; ++number) {
    const Element* rows[kMostTileProducts];
    c.grid.side == 2 ? rows_of_tile<4>(c, c.tile(number), rows)
                     : rows_of_tile<6>(c, c.tile(number), rows);
    Element* to = static_cast<Element*>(c.transformed) + number * c.tile_stride;
    for (int k = 0; k < c.product.depth; ++k) {
      double before[kMostTileProducts], after[kMostTileProducts];
      for (int i = 0; i < products; ++i) before[i] = Type::value(rows[i][k]);
      transform_both_ways(transforms.inputs[0], inputs, inputs, before, after);
      for (int i = 0; i < products; ++i) {
        to[i * c.product_stride + k] = Type::element(float(after[i]));
      }
    }
  }
}

template <typename Type, typename Out>
void product(const TileConvolution& c) {
  using Element = typename Type::Element;
  const RowProduct& p = c.product;
  const int side = c.grid.side, products = c.grid.products();
  const TileTransforms& transforms = tile_transforms(side);
  const int last = std::min(p.columns, p.last_panel * kPanel);
  const int64_t tap_size = padded_depth(p.depth, Type::kDepthGroup) * kPanel;
  const auto* transformed = static_cast<const Element*>(c.transformed);
  for (int number = c.first; number < c.last; ++number) {
    TileOutput wanted[16];
    const int count = wanted_outputs(c, c.tile(number), wanted);
    for (int column = p.first_panel * kPanel; column < last; ++column) {
      const auto* weights =
          static_cast<const Element*>(p.weights) + column / kPanel * products * tap_size;
      double sums[kMostTileProducts] = {}, outputs[16];
      for (int i = 0; i < products; ++i) {
        const Element* values = transformed + i * c.product_stride + number * c.tile_stride;
        for (int k = 0; k < p.depth; ++k) {
          const Element weight = weights[i * tap_size + weight_in_tap<Type>(k, column % kPanel)];
          sums[i] += double(Type::value(values[k])) * Type::value(weight);
        }
      }
      transform_both_ways(transforms.outputs[0], side, side + 2, sums, outputs);
      for (int i = 0; i < count; ++i) {
        const float sum = float(outputs[wanted[i].number]) + p.bias[column];
        finish<Type, Out>(p, wanted[i].row, column, sum);
      }
    }
  }
}

}  // namespace

template <typename Type>
TileFunctions tile_functions() {
  return {transform<Type>, product<Type, Type>, product<Type, Float32>};
}

template TileFunctions tile_functions<Float32>();
template TileFunctions tile_functions<BFloat16>();

}  // namespace sact::kernels::scalar
