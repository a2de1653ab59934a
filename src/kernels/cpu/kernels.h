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

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "sact/types.h"

namespace sact::kernels {

/// Of the operands of products.
using DataType = Precision;

constexpr const char* name_of(DataType type) {
  return type == DataType::kFloat32 ? "fp32" : "bf16";
}

constexpr int element_size(DataType type) {
  return type == DataType::kFloat32 ? 4 : 2;
}

/// For output i in [0, rows), sum[i] = sum over taps of input[row(i, tap)] * weights[tap] + bias,
/// where row(i, tap) = input_rows[list[i], tap]. What becomes of the sum says `output`.
struct RowProduct {
  int rows = 0;
  const void* input = nullptr;
  int64_t input_stride = 0;             // elements from one row to the next
  const int32_t* input_rows = nullptr;  // [positions, taps]; null with one tap: position p reads p
  const int32_t* list = nullptr;        // positions of the outputs; null: i
  int32_t zero_row = -1;                // a row of zeros, whose products can be left out; -1: none
  int taps = 1;
  int depth = 0;                       // elements of a row that are multiplied, per tap
  const void* weights = nullptr;       // from pack_weights()
  const void* next_weights = nullptr;  // what this thread will read after these, or null
  const float* bias = nullptr;         // [padded columns]
  int first_panel = 0, last_panel = 0;
  int columns = 0;

  /// output[output_rows[i]] = sum, or its positive part.
  void* output = nullptr;
  int64_t output_stride = 0;
  const int32_t* output_rows = nullptr;  // null: i
  bool relu = false;

  /// A residual is added to what the output holds: new = old + sum, or its positive part. Outputs
  /// of 32 bits only.
  bool add = false;
  /// Adaptive blocks keep the weighted mean of their states besides. With R the remainder of the
  /// position before the unit, adding R times each change to the first state gives that mean:
  ///   mean[row] (+)= remainders[row] * (new - old)
  /// beginning, where `first_residual` is set, with what the output holds. Without relu the change
  /// is the sum itself.
  float* mean = nullptr;  // null: none, as without `add`; rows and stride are the output's
  const float* remainders = nullptr;
  bool first_residual = false;
  bool keep_output = false;  // the last unit: only the mean is wanted
};

/// output[i] = relu(scale * input[rows[i]] + shift), per channel: a norm and its ReLU. Without a
/// scale the input as it is, in the type of the operands. NaN stays NaN.
struct RowNorm {
  int count = 0;
  const float* input = nullptr;
  int64_t input_stride = 0;
  const int32_t* rows = nullptr;  // null: row i
  const float *scale = nullptr, *shift = nullptr;
  void* output = nullptr;
  int64_t output_stride = 0;
  int channels = 0;
};

/// values[rows[i] * kScoreStride + tap] = input[rows[i]] . weights[tap] + shifts[tap]: what a
/// position adds to the halting scores of its neighbours. And, if `sums` is not null, sums[c] +=
/// input[rows[i], c].
constexpr int kScoreTaps = 9;
constexpr int kScoreStride = 16;  // numbers from one row's values to the next; the rest is scratch
struct RowScores {
  int count = 0;
  const float* input = nullptr;
  int64_t input_stride = 0;
  const int32_t* rows = nullptr;
  const float* weights = nullptr;  // [9, channels]
  const float* shifts = nullptr;   // [kScoreStride]
  int channels = 0;
  float* values = nullptr;  // [all rows, kScoreStride]
  float* sums = nullptr;
};

/// sums[c] += input[rows[i], c] over all i.
struct RowSum {
  int count = 0;
  const float* input = nullptr;
  int64_t input_stride = 0;
  const int32_t* rows = nullptr;  // null: row i
  int channels = 0;
  float* sums = nullptr;
};

/// output[i] = maximum over taps of input[rows[i, tap]], leaving `zero_row` out: max pooling. NaN
/// where one is NaN; minus infinity where all are left out.
struct RowMaximum {
  int count = 0;
  const float* input = nullptr;
  int64_t input_stride = 0;
  const int32_t* rows = nullptr;  // [count, 9]
  int32_t zero_row = -1;
  int channels = 0;
  float* output = nullptr;
  int64_t output_stride = 0;
};

/// The functions of one type of operands.
struct TypedFunctions {
  void (*product)(const RowProduct&) = nullptr;         // stores the type of its operands
  void (*product_to_f32)(const RowProduct&) = nullptr;  // stores 32 bits
  void (*norm)(const RowNorm&) = nullptr;               // reads 32 bits
  /// Nothing but multiply-adds in registers, `steps` times; returns how many operations they were.
  /// For measuring what the processor can do at best.
  int64_t (*multiply_adds)(int64_t steps) = nullptr;
};

/// The functions of one instruction set.
struct Table {
  const char* name = "";
  int panel_columns = 0;     // weights are stored in panels of this many columns
  int tile_rows = 0;         // rows that are multiplied together
  bool native_bf16 = false;  // products of bfloat16 are an instruction, not worked out in float32
  TypedFunctions f32, bf16;
  void (*scores)(const RowScores&) = nullptr;
  void (*sum)(const RowSum&) = nullptr;
  void (*maximum)(const RowMaximum&) = nullptr;

  const TypedFunctions& functions(DataType type) const {
    return type == DataType::kFloat32 ? f32 : bf16;
  }
};

/// How a product of several taps is done. Taps in registers: the sums of a tile stay in registers
/// over all taps. Taps in memory: one tap after the other is added to sums in memory, for the rows
/// only that have a neighbour there, so that nothing is multiplied with the border's zeros; the
/// deeper a tap, the less the trips to memory cost.
enum class TapOrder { kRegisters, kMemory };
struct TapChoice {
  TapOrder order = TapOrder::kRegisters;
  const char* why = "";
};
TapChoice tap_choice(const RowProduct& product, DataType type);
inline TapOrder tap_order(const RowProduct& product, DataType type) {
  return tap_choice(product, type).order;
}
/// What a product of one tap gets, whatever else it is.
inline constexpr TapChoice kOneTap = {TapOrder::kRegisters, "one tap"};

/// The plainest form of every kernel, which the others are tested against.
const Table& scalar_table();

/// Every table that this processor can run, the scalar one first, the fastest last.
const std::vector<const Table*>& available_tables();

/// The fastest, or the one that `name` (the environment variable SACT_ISA) asks for; sact::Error
/// lists the names when it is not there. Case and hyphens do not matter.
const Table& chosen_table(std::string_view name = {});

/// A weight matrix in the layout that products read: panels of `panel_columns` columns, each with
/// taps and depth in order; for bfloat16 two consecutive depths lie together. Missing columns and
/// depths are zeros.
struct PackedWeights {
  DataType type = DataType::kFloat32;
  int taps = 0, depth = 0, columns = 0, panel_columns = 0;
  const void* data = nullptr;  // in the arena

  int panels() const { return (columns + panel_columns - 1) / panel_columns; }
  const void* panel(int number) const;
};

/// Where the weight of (column, k, tap) lies in a matrix to be packed.
struct WeightStrides {
  int64_t column = 0, depth = 0, tap = 0;
};

/// `scale` is by column, or null.
PackedWeights pack_weights(const Table& table, DataType type, const float* weights,
                           const WeightStrides& strides, const float* scale, int taps, int depth,
                           int columns, Arena& arena);

}  // namespace sact::kernels
