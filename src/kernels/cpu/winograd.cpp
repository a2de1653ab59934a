#include "kernels/cpu/winograd.h"

#include <type_traits>

#include "base/error.h"

namespace sact::kernels {
namespace {

// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015): points 0, 1, -1 and
// infinity; with 4x4 outputs 2 and -2 besides.
constexpr TileTransforms kTwo = {
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
    {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
    {{1, 1, 1, 0}, {0, 1, -1, -1}},
};
constexpr TileTransforms kFour = {
    {{4, 0, -5, 0, 1, 0},
     {0, -4, -4, 1, 1, 0},
     {0, 4, -4, -1, 1, 0},
     {0, -2, -1, 2, 1, 0},
     {0, 2, -1, -2, 1, 0},
     {0, 4, 0, -5, 0, 1}},
    {{1.0 / 4, 0, 0},
     {-1.0 / 6, -1.0 / 6, -1.0 / 6},
     {-1.0 / 6, 1.0 / 6, -1.0 / 6},
     {1.0 / 24, 1.0 / 12, 1.0 / 6},
     {1.0 / 24, -1.0 / 12, 1.0 / 6},
     {0, 0, 1}},
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
};

/// One panel: from [tap, depth, column] to [product, depth, column], where `row` numbers lie
/// between two taps and two products. Loops over `row` are those of vectors.
template <typename Type, int kInputs>
void transform_panel(const TileTransforms& transforms, const typename Type::Element* from,
                     int64_t row, typename Type::Element* to) {
  constexpr int kPiece = 64;
  for (int64_t first = 0; first < row; first += kPiece) {
    const int count = int(row - first < kPiece ? row - first : kPiece);
    double half[kInputs][3][kPiece];
    for (int i = 0; i < kInputs; ++i) {
      const double* g = transforms.weights[i];
      for (int j = 0; j < 3; ++j) {
        const auto* taps = from + j * row + first;
        for (int k = 0; k < count; ++k) {
          half[i][j][k] = g[0] * Type::value(taps[k]) + g[1] * Type::value(taps[3 * row + k]) +
                          g[2] * Type::value(taps[6 * row + k]);
        }
      }
    }
    for (int i = 0; i < kInputs; ++i) {
      for (int j = 0; j < kInputs; ++j) {
        const double* g = transforms.weights[j];
        auto* product = to + (i * kInputs + j) * row + first;
        for (int k = 0; k < count; ++k) {
          product[k] = Type::element(
              float(g[0] * half[i][0][k] + g[1] * half[i][1][k] + g[2] * half[i][2][k]));
        }
      }
    }
  }
}

/// A panel in its type, widened where it is stored in less.
template <typename Type>
const typename Type::Element* operand_panel(const PackedWeights& direct, int panel) {
  if constexpr (std::is_same_v<Type, Float32>) {
    return float_panel(direct, panel);
  } else {
    return static_cast<const typename Type::Element*>(direct.panel(panel));
  }
}

/// Panels [first, last). Depths that lie together stay so: each number is transformed by itself.
template <typename Type>
void transform_panels(const PackedWeights& direct, int side, int first, int last, void* to) {
  using Element = typename Type::Element;
  const int64_t row = direct.padded_depth * direct.panel_columns;
  const int64_t panel_size = (side + 2) * (side + 2) * row;
  auto transform = transform_panel<Type, 4>;
  if constexpr (Type::kLargestTile >= 4) {
    if (side == 4) transform = transform_panel<Type, 6>;
  }
  for (int panel = first; panel < last; ++panel) {
    transform(tile_transforms(side), operand_panel<Type>(direct, panel), row,
              static_cast<Element*>(to) + panel * panel_size);
  }
}

}  // namespace

const TileTransforms& tile_transforms(int side) {
  SACT_ASSERT(side == 2 || side == 4);
  return side == 2 ? kTwo : kFour;
}

int64_t transformed_bytes(const PackedWeights& direct, int side) {
  return transformed_weights(direct, side, nullptr).bytes();
}

PackedWeights transformed_weights(const PackedWeights& direct, int side, const void* data) {
  PackedWeights result = direct;
  result.stored = WeightStorage::kOperand;
  result.scales = nullptr;
  result.taps = (side + 2) * (side + 2);
  result.data = data;
  return result;
}

void transform_weights(const PackedWeights& direct, int side, int first, int last, void* to) {
  SACT_ASSERT(direct.taps == 9 && side <= direct.type->largest_tile);
  const bool whole = direct.type->type == DataType::kFloat32;
  (whole ? transform_panels<Float32> : transform_panels<BFloat16>)(direct, side, first, last, to);
}

}  // namespace sact::kernels
