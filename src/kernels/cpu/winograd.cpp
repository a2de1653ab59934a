#include "kernels/cpu/winograd.h"

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
template <int kInputs>
void transform_panel(const TileTransforms& transforms, const float* from, int64_t row, float* to) {
  constexpr int kPiece = 64;
  for (int64_t first = 0; first < row; first += kPiece) {
    const int count = int(row - first < kPiece ? row - first : kPiece);
    double half[kInputs][3][kPiece];
    for (int i = 0; i < kInputs; ++i) {
      const double* g = transforms.weights[i];
      for (int j = 0; j < 3; ++j) {
        const float* taps = from + j * row + first;
        for (int k = 0; k < count; ++k) {
          half[i][j][k] = g[0] * taps[k] + g[1] * taps[3 * row + k] + g[2] * taps[6 * row + k];
        }
      }
    }
    for (int i = 0; i < kInputs; ++i) {
      for (int j = 0; j < kInputs; ++j) {
        const double* g = transforms.weights[j];
        float* product = to + (i * kInputs + j) * row + first;
        for (int k = 0; k < count; ++k) {
          product[k] = float(g[0] * half[i][0][k] + g[1] * half[i][1][k] + g[2] * half[i][2][k]);
        }
      }
    }
  }
}

}  // namespace

const TileTransforms& tile_transforms(int side) {
  SACT_ASSERT(side == 2 || side == 4);
  return side == 2 ? kTwo : kFour;
}

int64_t transformed_size(const PackedWeights& direct, int side) {
  return direct.panels() * transformed_weights(direct, side, nullptr).panel_elements();
}

PackedWeights transformed_weights(const PackedWeights& direct, int side, const float* data) {
  PackedWeights result = direct;
  result.stored = WeightStorage::kOperand;
  result.scales = nullptr;
  result.taps = (side + 2) * (side + 2);
  result.data = data;
  return result;
}

void transform_weights(const PackedWeights& direct, int side, int first, int last, float* to) {
  SACT_ASSERT(direct.taps == 9 && direct.type->type == DataType::kFloat32);
  const int64_t row = direct.padded_depth * direct.panel_columns;
  const int64_t panel_size = (side + 2) * (side + 2) * row;
  for (int panel = first; panel < last; ++panel) {
    (side == 2 ? transform_panel<4> : transform_panel<6>)(tile_transforms(side),
                                                          float_panel(direct, panel), row,
                                                          to + panel * panel_size);
  }
}

}  // namespace sact::kernels
