#include "base/error.h"
#include "base/half.h"
#include "kernels/cpu/kernels.h"

namespace sact::kernels {

PackedWeights pack_weights(const Table& table, DataType type, const float* weights, int taps,
                           int depth, int columns) {
  PackedWeights packed;
  packed.type = type;
  packed.taps = taps;
  packed.depth = depth;
  packed.columns = columns;
  packed.panel_columns = table.panel_columns;
  const int64_t width = table.panel_columns;
  const bool bf16 = type == DataType::kBFloat16;
  const int64_t steps = bf16 ? (depth + 1) / 2 * 2 : depth;  // pairs
  const int64_t count = packed.panels() * taps * steps * width;
  if (bf16) {
    packed.bf16.assign(size_t(count), 0);
  } else {
    packed.f32.assign(size_t(count), 0.0f);
  }
  for (int tap = 0; tap < taps; ++tap) {
    for (int k = 0; k < depth; ++k) {
      const float* from = weights + (int64_t(tap) * depth + k) * columns;
      for (int column = 0; column < columns; ++column) {
        const int64_t panel = column / width, lane = column % width;
        const int64_t start = (panel * taps + tap) * steps * width;
        if (bf16) {
          packed.bf16[size_t(start + (k / 2 * width + lane) * 2 + k % 2)] =
              bf16_from_float(from[column]);
        } else {
          packed.f32[size_t(start + k * width + lane)] = from[column];
        }
      }
    }
  }
  return packed;
}

}  // namespace sact::kernels
