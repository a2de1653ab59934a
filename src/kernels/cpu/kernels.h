// CPU kernels of the engine: matrix products over lists of rows, one table of functions for every
// instruction set.
//
// A layer of the network is a product of rows and a weight matrix, where a row is one position's
// channels. Which rows are read and written is given by lists, so that a layer costs what its
// active positions cost. A 3x3 convolution reads nine rows for each one that it writes; border
// positions read a row of zeros. A dense network is the case where the lists name all rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sact::kernels {

enum class DataType { kFloat32, kBFloat16 };

/// output[r] = f(sum over taps of input[rows[r, tap]] * weights[tap] + bias), for rows r in
/// [first_row, last_row) and panels of columns in [first_panel, last_panel).
struct RowProduct {
  const void* input = nullptr;
  int64_t input_stride = 0;             // elements from one row to the next
  const int32_t* input_rows = nullptr;  // [rows, taps]; null with one tap: row r
  int taps = 1;
  int depth = 0;                  // elements of a row that are multiplied, per tap
  const void* weights = nullptr;  // from pack_weights()
  const float* bias = nullptr;    // [padded columns]
  void* output = nullptr;
  int64_t output_stride = 0;
  const int32_t* output_rows = nullptr;  // null: row r
  int columns = 0;
  bool relu = false;
  bool add = false;  // to what the output holds; 32-bit outputs only
};

/// What a range of a product covers; threads take different ranges.
struct Range {
  int first_row = 0, last_row = 0;
  int first_panel = 0, last_panel = 0;
};

/// output[i] = relu(scale * input[rows[i]] + shift), per channel: a norm and its ReLU.
struct RowNorm {
  const float* input = nullptr;
  int64_t input_stride = 0;
  const int32_t* rows = nullptr;  // null: row i
  const float *scale = nullptr, *shift = nullptr;
  void* output = nullptr;  // rows one after the other
  int64_t output_stride = 0;
  int channels = 0;
};

/// The functions of one instruction set. The suffixes name the types of operands and of the result.
struct Table {
  const char* name = "";
  int panel_columns = 0;  // weights are stored in panels of this many columns
  int tile_rows = 0;      // rows that are multiplied together

  void (*product_f32)(const RowProduct& product, const Range& range) = nullptr;
  void (*product_bf16)(const RowProduct& product, const Range& range) = nullptr;
  void (*product_bf16_to_f32)(const RowProduct& product, const Range& range) = nullptr;
  void (*norm_f32)(const RowNorm& norm, int first_row, int last_row) = nullptr;
  void (*norm_bf16)(const RowNorm& norm, int first_row, int last_row) = nullptr;
};

/// The plainest form of every kernel, which the others are tested against.
const Table& scalar_table();

/// Every table that this processor can run, the scalar one first, the fastest last.
const std::vector<const Table*>& available_tables();

/// The fastest, or the one that `name` (the environment variable SACT_ISA) asks for; sact::Error
/// lists the names when it is not there.
const Table& chosen_table(std::string_view name = {});

/// A weight matrix [taps, depth, columns] (row major) in the layout that products read: panels of
/// `panel_columns` columns, each with taps and depth in order; for bfloat16 two consecutive depths
/// lie together. Missing columns and depths are zeros.
struct PackedWeights {
  DataType type = DataType::kFloat32;
  int taps = 0, depth = 0, columns = 0, panel_columns = 0;
  std::vector<float> f32;
  std::vector<uint16_t> bf16;

  int panels() const { return (columns + panel_columns - 1) / panel_columns; }
  const void* data() const {
    return type == DataType::kFloat32 ? static_cast<const void*>(f32.data()) : bf16.data();
  }
};
PackedWeights pack_weights(const Table& table, DataType type, const float* weights, int taps,
                           int depth, int columns);

}  // namespace sact::kernels
