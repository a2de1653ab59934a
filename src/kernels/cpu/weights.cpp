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
        const float weight = matrix.at(column, k)[tap * matrix.strides.tap];
        largest = std::max(largest, std::abs(weight));
      }
    }
    scales[column] = largest > 0 ? largest / packed.type->largest_weight : 1.0f;
  }
  return scales;
}

/// Groups of depths [first, last) of one panel, as [tap, group, column, depth in the group].
void gather(const PackedWeights& packed, const WeightMatrix& matrix, int panel, int first, int last,
            float* piece) {
  const int group = packed.type->depth_group, width = packed.panel_columns;
  const int64_t tap_size = int64_t(last - first) * width * group;
  std::fill_n(piece, packed.taps * tap_size, 0.0f);
  for (int lane = 0; lane < std::min(width, matrix.columns - panel * width); ++lane) {
    const int column = panel * width + lane;
    const float factor = packed.scales ? 1 / packed.scales[column] : 1.0f;
    for (int number = first; number < last; ++number) {
      float* to = piece + (int64_t(number - first) * width + lane) * group;
      const int k = number * group, end = std::min(k + group, matrix.depth);
      const float* from = matrix.at(column, k);
      for (int i = 0; i < end - k; ++i, from += matrix.strides.depth) {
        for (int tap = 0; tap < packed.taps; ++tap) {
          to[tap * tap_size + i] = from[tap * matrix.strides.tap] * factor;
        }
      }
    }
  }
}

}  // namespace

const void* PackedWeights::panel(int number) const {
  return static_cast<const std::byte*>(data) + number * panel_elements() * type->weights.bytes;
}

PackedWeights pack_weights(const OperandType& type, const PanelLayout& layout,
                           const WeightMatrix& matrix, Arena& arena) {
  constexpr int kPieceFloats = 4096;  // fit the first cache
  PackedWeights packed{&type, matrix.taps, matrix.depth, matrix.columns, layout.columns};
  packed.padded_depth = type.padded_depth(int(padded_depth(matrix.depth, layout.depth_step)));
  const int bytes = type.weights.bytes, row = layout.columns * type.depth_group;
  std::byte* data = arena.take<std::byte>(packed.panels() * packed.panel_elements() * bytes);
  packed.data = data;
  if (type.largest_weight > 0) packed.scales = column_scales(packed, matrix, arena);
  const int groups = int(packed.padded_depth) / type.depth_group;
  const int together = std::clamp(kPieceFloats / (row * matrix.taps), 1, groups);
  std::vector<float> piece(size_t(matrix.taps) * size_t(together) * size_t(row));
  for (int panel = 0; panel < packed.panels(); ++panel) {
    for (int first = 0; first < groups; first += together) {
      const int last = std::min(first + together, groups);
      gather(packed, matrix, panel, first, last, piece.data());
      const int64_t count = int64_t(last - first) * row;
      for (int64_t tap = 0; tap < matrix.taps; ++tap) {
        std::byte* to = data + ((panel * matrix.taps + tap) * groups + first) * row * bytes;
        type.weights.store(piece.data() + tap * count, count, to);
      }
    }
  }
  return packed;
}

}  // namespace sact::kernels
