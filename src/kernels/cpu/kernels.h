// CPU kernels of the engine: matrix products over lists of rows, one table of functions for every
// instruction set.
//
// A layer of the network is a product of rows and a weight matrix, where a row is one position's
// channels. Which rows are read and written is given by lists, so that a layer costs what its
// active positions cost. A 3x3 convolution reads nine rows for each one that it writes; border
// positions read a row of zeros. A dense network is the case where the lists name all rows.
//
// A call does all its work on the calling thread; threads share a layer by calls with different
// rows or panels.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/cpu/calls.h"
#include "kernels/cpu/operand_types.h"
#include "kernels/cpu/tap_order.h"
#include "kernels/cpu/weights.h"
#include "kernels/cpu/winograd.h"

namespace sact::kernels {

/// The functions of one type of operands on one instruction set.
struct TypedFunctions {
  DataType type = DataType::kFloat32;
  bool native = false;    // operands are multiplied as they are, not widened to float32 before
  int panel_columns = 0;  // weights are stored in panels of this many columns
  int depth_step = 1;     // and with whole multiples of this many depths for each tap
  int tile_rows = 0;      // rows that are multiplied together
  /// Rows of a product with several taps are fastest where each tap lies at one distance from all
  /// of them, beyond the border of an image too.
  bool likes_borders = false;
  void (*product)(const RowProduct&) = nullptr;         // stores the type of its operands
  void (*product_to_f32)(const RowProduct&) = nullptr;  // stores 32 bits
  void (*norm)(const RowNorm&) = nullptr;               // reads 32 bits
  /// Nothing but multiply-adds in registers, `steps` times; returns how many operations they were.
  /// For measuring what the processor can do at best.
  int64_t (*multiply_adds)(int64_t steps) = nullptr;

  /// 3x3 convolutions over tiles; null where the type has none.
  TileFunctions tiles = {};

  PanelLayout panel_layout() const { return {panel_columns, depth_step}; }
};

/// The functions that read and write 32 bits, whatever the type of operands.
struct RowFunctions {
  void (*scores)(const RowScores&) = nullptr;
  void (*sum)(const RowSum&) = nullptr;
  void (*maximum)(const RowMaximum&) = nullptr;
};

/// All functions that are used together on one instruction set.
struct Table : RowFunctions {
  const char* name = "";
  std::vector<TypedFunctions> typed;  // in the order of operand_types()

  const TypedFunctions& functions(DataType type) const { return typed[size_t(type)]; }
};

/// The plainest form of every kernel, which the others are tested against.
const Table& scalar_table();

/// Every table that this processor can run, the scalar one first, the fastest last.
const std::vector<const Table*>& available_tables();

/// The fastest, or the one that `name` (the environment variable SACT_ISA) asks for; sact::Error
/// lists the names when it is not there. Case and hyphens do not matter.
const Table& chosen_table(std::string_view name = {});

/// A weight matrix for the products of a table.
PackedWeights pack_weights(const Table& table, DataType type, const float* weights,
                           const WeightStrides& strides, int taps, int depth, int columns,
                           Arena& arena);

}  // namespace sact::kernels
