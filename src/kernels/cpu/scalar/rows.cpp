// What reads and writes rows of 32 bits, in plain C++.
#include <limits>

#include "kernels/cpu/parts.h"

namespace sact::kernels {
namespace {

void sum(const RowSum& s) {
  for (int i = 0; i < s.count; ++i) {
    const float* input = s.input + (s.rows ? s.rows[i] : i) * s.input_stride;
    for (int c = 0; c < s.channels; ++c) s.sums[c] += input[c];
  }
}

void scores(const RowScores& s) {
  if (s.sums) sum({s.count, s.input, s.input_stride, s.rows, s.channels, s.sums});
  for (int i = 0; i < s.count; ++i) {
    const int64_t row = s.rows[i];
    for (int tap = 0; tap < kScoreTaps; ++tap) {
      float sum = s.shifts[tap];
      for (int c = 0; c < s.channels; ++c) {
        sum += s.input[row * s.input_stride + c] * s.weights[tap * s.channels + c];
      }
      s.values[row * kScoreStride + tap] = sum;
    }
  }
}

void maximum(const RowMaximum& m) {
  for (int i = 0; i < m.count; ++i) {
    for (int c = 0; c < m.channels; ++c) {
      float largest = -std::numeric_limits<float>::infinity();
      for (int tap = 0; tap < 9; ++tap) {
        const int32_t row = m.rows[i * 9 + tap];
        if (row != m.zero_row) largest = larger_or_nan(largest, m.input[row * m.input_stride + c]);
      }
      m.output[i * m.output_stride + c] = largest;
    }
  }
}

}  // namespace

std::vector<Part> scalar_row_parts() {
  Part part{kScalarIsa};
  part.rows = {scores, sum, maximum};
  return {part};
}

}  // namespace sact::kernels
