// The types that operands of products can have, as a table: how rows and weights of each are
// stored. What each instruction set does with them is in kernels.h.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/elements.h"

namespace sact::kernels {

/// How numbers are stored.
struct Storage {
  int bytes = 0;                                                        // of one
  void (*store)(const float* from, int64_t count, void* to) = nullptr;  // `count` of them
};

struct OperandType {
  DataType type = DataType::kFloat32;
  const char* name = "";
  Storage rows;         // what a network computes
  Storage weights;      // and what it is multiplied with
  int depth_group = 1;  // depths that lie together in packed weights, for each column
  /// The largest number that a weight can be stored as. Where it is set, each column of weights is
  /// divided by a scale that makes its largest this, and the scales are kept; 0: stored as it is.
  float largest_weight = 0;
  /// The side of the largest tiles (winograd.h) whose transforms these numbers are exact enough
  /// for; 0: none.
  int largest_tile = 0;

  /// Whether rows are floats as the network computes them, so that nothing is left to store.
  bool takes_float_rows() const;

  /// Depths of a tap in packed weights: whole groups.
  int64_t padded_depth(int depth) const { return kernels::padded_depth(depth, depth_group); }
};

/// All of them, in the order of DataType.
std::span<const OperandType> operand_types();

const OperandType& operand_type(DataType type);

inline const char* name_of(DataType type) {
  return operand_type(type).name;
}

}  // namespace sact::kernels
