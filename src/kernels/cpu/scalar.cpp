// The kernels in plain C++: the reference for every other table.
#include <algorithm>
#include <limits>

#include "base/half.h"
#include "kernels/cpu/kernels.h"

namespace sact::kernels {
namespace {

constexpr int kPanel = 8;

float value_of(float value) {
  return value;
}
float value_of(uint16_t bits) {
  return float_from_bf16(bits);
}
void store(float value, float* to) {
  *to = value;
}
void store(float value, uint16_t* to) {
  *to = bf16_from_float(value);
}

/// Where the weight of (tap, k, lane) lies in a panel, whose depths are padded to pairs in 16 bits.
int64_t padded_depth(const RowProduct& p, const float*) {
  return p.depth;
}
int64_t padded_depth(const RowProduct& p, const uint16_t*) {
  return (p.depth + 1) / 2 * 2;
}
int64_t weight_in_tap(const float*, int k, int lane) {
  return int64_t(k) * kPanel + lane;
}
int64_t weight_in_tap(const uint16_t*, int k, int lane) {
  return (int64_t(k / 2) * kPanel + lane) * 2 + k % 2;
}

template <typename In>
float row_sum(const RowProduct& p, int i, int column) {
  const In* input = static_cast<const In*>(p.input);
  const In* weights = static_cast<const In*>(p.weights);
  const int64_t tap_size = padded_depth(p, weights) * kPanel;
  weights += column / kPanel * p.taps * tap_size;
  const int64_t position = p.list ? p.list[i] : i;
  float sum = p.bias[column];
  for (int tap = 0; tap < p.taps; ++tap) {
    const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
    const In* values = input + row * p.input_stride;
    for (int k = 0; k < p.depth; ++k) {
      sum += value_of(values[k]) *
             value_of(weights[tap * tap_size + weight_in_tap(weights, k, column % kPanel)]);
    }
  }
  return sum;
}

template <typename In, typename Out>
void product(const RowProduct& p) {
  const int last = std::min(p.columns, p.last_panel * kPanel);
  for (int i = 0; i < p.rows; ++i) {
    const int64_t row = p.output_rows ? p.output_rows[i] : i;
    Out* output = static_cast<Out*>(p.output) + row * p.output_stride;
    for (int column = p.first_panel * kPanel; column < last; ++column) {
      const float sum = row_sum<In>(p, i, column);
      const float before = p.add ? value_of(output[column]) : 0.0f;
      float after = p.add ? before + sum : sum;
      if (p.relu) after = std::max(after, 0.0f);  // in this order NaN stays NaN
      if (p.mean) {
        float& mean = p.mean[row * p.output_stride + column];
        const float change = p.relu ? after - before : sum;
        mean = (p.first_residual ? before : mean) + p.remainders[row] * change;
      }
      if (!p.keep_output) store(after, output + column);
    }
  }
}

template <typename Out>
void norm(const RowNorm& n) {
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    Out* output = static_cast<Out*>(n.output) + i * n.output_stride;
    for (int c = 0; c < n.channels; ++c) {
      const float value = n.scale ? std::max(n.scale[c] * input[c] + n.shift[c], 0.0f) : input[c];
      store(value, output + c);
    }
  }
}

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

/// NaN where one of the two is NaN.
float larger_or_nan(float a, float b) {
  return a != a || b <= a ? a : b;
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

int64_t multiply_adds(int64_t steps) {
  constexpr int kSums = 8;
  float sums[kSums] = {};
  volatile float factor = 0.5f;
  const float x = factor;
  for (int64_t step = 0; step < steps; ++step) {
    for (float& sum : sums) sum = sum * x + x;
  }
  for (float sum : sums) factor = sum;
  return steps * kSums * 2;
}

}  // namespace

const Table& scalar_table() {
  static const Table table = {
      "scalar",
      kPanel,
      1,
      false,
      {product<float, float>, product<float, float>, norm<float>, multiply_adds},
      {product<uint16_t, uint16_t>, product<uint16_t, float>, norm<uint16_t>, multiply_adds},
      scores,
      sum,
      maximum};
  return table;
}

}  // namespace sact::kernels
