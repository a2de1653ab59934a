// What kernels are asked to do. Rows are positions' channels; lists say which are read and written.
#pragma once

#include <cstdint>

#include "kernels/cpu/elements.h"

namespace sact::kernels {

/// What becomes of the finished sums of a product.
struct Epilogue {
  /// The output is the positive part; NaN stays NaN.
  bool relu = false;
  /// A residual is added to what the output holds: new = old + sum, or its positive part. Outputs
  /// of 32 bits only.
  bool add = false;
  /// Adaptive blocks keep the weighted mean of their states besides. With R the remainder of the
  /// position before the unit, adding R times each change to the first state gives that mean:
  ///   mean[row] (+)= remainders[row] * (new - old)
  /// beginning, where `first_residual` is set, with what the output holds. Without relu the change
  /// is the sum itself. While the remainder is 1 the mean is the state: it is not touched before
  /// the last unit, and is then the new state to the bit.
  float* mean = nullptr;  // null: none, as without `add`; rows and stride are the output's
  const float* remainders = nullptr;
  bool first_residual = false;
  bool mean_only = false;  // the output stays as it was: the last unit, whose state nobody reads
};

/// For output i in [0, rows), sum[i] = sum over taps of input[row(i, tap)] * weights[tap] + bias,
/// where row(i, tap) = input_rows[list[i], tap]; and output[output_rows[i]] is what the epilogue
/// makes of it.
struct RowProduct {
  int rows = 0;
  const void* input = nullptr;
  int64_t input_stride = 0;             // elements from one row to the next
  const int32_t* input_rows = nullptr;  // [positions, taps]; null with one tap: position p reads p
  const int32_t* list = nullptr;        // positions of the outputs; null: i
  int32_t zero_row = -1;                // a row of zeros, whose products can be left out; -1: none
  bool readable_past_rows = false;      // 64 bytes may be read from any element of a row on
  int taps = 1;
  int depth = 0;                       // elements of a row that are multiplied, per tap
  const void* weights = nullptr;       // from pack_weights()
  const void* next_weights = nullptr;  // what this thread will read after these, or null
  WeightStorage stored = WeightStorage::kOperand;
  const float* bias = nullptr;  // [padded columns]
  /// [padded columns]: sums of whole numbers are multiplied with these before the bias is added;
  /// widened weights are, each, before they multiply anything.
  const float* scales = nullptr;
  int first_panel = 0, last_panel = 0;
  int columns = 0;
  void* output = nullptr;
  int64_t output_stride = 0;
  const int32_t* output_rows = nullptr;  // null: i
  Epilogue epilogue;
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

}  // namespace sact::kernels
