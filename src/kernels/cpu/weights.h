// Weight matrices in the layout that products read.
#pragma once

#include <cstdint>
#include <span>

#include "base/arena.h"
#include "kernels/cpu/operand_types.h"

namespace sact::kernels {

/// What products of an instruction set read at a time.
struct PanelLayout {
  int columns = 0;
  int depth_step = 1;  // each tap has a whole multiple of so many depths
};

/// Panels of `panel_columns` columns, each with taps and depth in order; as many consecutive depths
/// as the type says lie together. Missing columns and depths are zeros.
struct PackedWeights {
  const OperandType* type = nullptr;
  WeightStorage stored = WeightStorage::kOperand;
  int taps = 0, depth = 0, columns = 0, panel_columns = 0;
  int64_t padded_depth = 0;       // of one tap
  const void* data = nullptr;     // in the arena
  const float* scales = nullptr;  // of whole panels, where columns have them

  int panels() const { return (columns + panel_columns - 1) / panel_columns; }
  int64_t panel_elements() const { return taps * padded_depth * panel_columns; }
  const void* panel(int number) const;
  int64_t bytes() const { return panels() * panel_elements() * storage().bytes; }
  const Storage& storage() const;
};

/// Where the weight of (column, k, tap) lies in a matrix to be packed.
struct WeightStrides {
  int64_t column = 0, depth = 0, tap = 0;
};

/// A matrix to be packed.
struct WeightMatrix {
  const float* data = nullptr;
  WeightStrides strides;
  int taps = 0, depth = 0, columns = 0;
  /// 16 bits must hold all of the numbers. A weight is then the number times the scale of its
  /// column; null: 1.
  WeightStorage stored = WeightStorage::kOperand;
  const float* scales = nullptr;

  /// The first tap.
  const float* at(int column, int k) const {
    return data + column * strides.column + k * strides.depth;
  }
};

PackedWeights pack_weights(const OperandType& type, const PanelLayout& layout,
                           const WeightMatrix& matrix, Arena& arena);

/// The 16 bits that hold all of these numbers, if there are such; otherwise kOperand.
WeightStorage exact_storage(std::span<const float> numbers);

/// A panel of weights of 32 bits as products multiply them: where it lies or, where it is stored in
/// 16 bits, widened in thread_panel().
const float* float_panel(const PackedWeights& packed, int number);

/// Memory of the calling thread, from a cache line on, for so many numbers; the next call may take
/// it away.
float* thread_panel(int64_t numbers);

}  // namespace sact::kernels
