#include "kernels/cpu/weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sact::kernels {
namespace {

/// For each column the scale that makes its largest weight as large as the type can store.
const float* column_scales(const PackedWeights& packed, const WeightMatrix& matrix, Arena& arena) {
  float* scales = arena.take<float>(int64_t(packed.panels()) * packed.panel_columns);
  for (int column = 0; column < matrix.columns; ++column) {
    float largest = 0;
    for (int k = 0; k < matrix.depth; ++k) {
      for (int tap = 0; tap < matrix.taps; ++tap) {
        largest = std::max(largest, std::abs(matrix.at(column, k, tap)));
      }
    }
    scales[column] = largest > 0 ? largest / packed.type->largest_weight : 1.0f;
  }
  return scales;
}

}  // namespace

const void* PackedWeights::panel(int number) const {
  return static_cast<const std::byte*>(data) + number * panel_elements() * type->weights.bytes;
}

PackedWeights pack_weights(const OperandType& type, int panel_columns, const WeightMatrix& matrix,
                           Arena& arena) {
  PackedWeights packed{&type, matrix.taps, matrix.depth, matrix.columns, panel_columns};
  const int bytes = type.weights.bytes, group = type.depth_group;
  std::byte* data = arena.take<std::byte>(packed.panels() * packed.panel_elements() * bytes);
  packed.data = data;
  if (type.largest_weight > 0) packed.scales = column_scales(packed, matrix, arena);
  // One group of depths of one tap and panel at a time.
  std::vector<float> piece(size_t(panel_columns) * size_t(group));
  const int64_t piece_bytes = int64_t(piece.size()) * bytes;
  const int64_t groups = type.padded_depth(matrix.depth) / group;
  for (int panel = 0; panel < packed.panels(); ++panel) {
    const int first = panel * panel_columns;
    const int lanes = std::min(panel_columns, matrix.columns - first);
    for (int64_t number = 0; number < groups; ++number) {
      for (int tap = 0; tap < matrix.taps; ++tap) {
        std::fill(piece.begin(), piece.end(), 0.0f);
        for (int lane = 0; lane < lanes; ++lane) {
          for (int k = int(number) * group; k < std::min(int(number + 1) * group, matrix.depth);
               ++k) {
            float& weight = piece[size_t(lane * group + k % group)];
            weight = matrix.at(first + lane, k, tap);
            if (packed.scales) weight /= packed.scales[first + lane];
          }
        }
        type.weights.store(piece.data(), int64_t(piece.size()),
                           data + (tap * groups + number) * piece_bytes);
      }
    }
    data += packed.panel_elements() * bytes;
  }
  return packed;
}

}  // namespace sact::kernels
