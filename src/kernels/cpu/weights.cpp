#include <algorithm>
#include <cstddef>

#include "base/half.h"
#include "kernels/cpu/kernels.h"

namespace sact::kernels {
namespace {

void store(float value, float* to) {
  *to = value;
}
void store(float value, uint16_t* to) {
  *to = bf16_from_float(value);
}

/// `group` depths lie together for each column: 1, or 2 for bfloat16.
template <typename T, int group>
const void* pack(const float* weights, const WeightStrides& strides, const float* scale,
                 const PackedWeights& packed, Arena& arena) {
  const int64_t width = packed.panel_columns;
  const int64_t depth = (packed.depth + group - 1) / group * group;
  const int64_t panel_size = packed.taps * depth * width;
  T* data = arena.take<T>(packed.panels() * panel_size);
  for (int column = 0; column < packed.columns; ++column) {
    const int64_t lane = column % width;
    T* panel = data + column / width * panel_size;
    const float* from = weights + column * strides.column;
    const float factor = scale ? scale[column] : 1.0f;
    for (int k = 0; k < packed.depth; ++k) {
      for (int tap = 0; tap < packed.taps; ++tap) {
        T* to = panel + tap * depth * width + (k / group * width + lane) * group + k % group;
        store(from[k * strides.depth + tap * strides.tap] * factor, to);
      }
    }
  }
  return data;
}

}  // namespace

const void* PackedWeights::panel(int number) const {
  const int64_t padded = type == DataType::kFloat32 ? depth : (depth + 1) / 2 * 2;
  const int64_t bytes = taps * padded * panel_columns * element_size(type);
  return static_cast<const std::byte*>(data) + number * bytes;
}

PackedWeights pack_weights(const Table& table, DataType type, const float* weights,
                           const WeightStrides& strides, const float* scale, int taps, int depth,
                           int columns, Arena& arena) {
  PackedWeights packed;
  packed.type = type;
  packed.taps = taps;
  packed.depth = depth;
  packed.columns = columns;
  packed.panel_columns = table.panel_columns;
  packed.data = type == DataType::kFloat32
                    ? pack<float, 1>(weights, strides, scale, packed, arena)
                    : pack<uint16_t, 2>(weights, strides, scale, packed, arena);
  return packed;
}

}  // namespace sact::kernels
