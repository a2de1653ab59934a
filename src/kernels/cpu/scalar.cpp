// The kernels in plain C++: the reference for every other table.
#include <algorithm>
#include <vector>

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

/// Where the weight of (tap, k, lane) lies in a panel.
int64_t weight_at(const RowProduct& p, const float*, int tap, int k, int lane) {
  return (int64_t(tap) * p.depth + k) * kPanel + lane;
}
int64_t weight_at(const RowProduct& p, const uint16_t*, int tap, int k, int lane) {
  const int64_t pairs = (p.depth + 1) / 2;
  return ((tap * pairs + k / 2) * kPanel + lane) * 2 + k % 2;
}
int64_t panel_size(const RowProduct& p, const float*) {
  return int64_t(p.taps) * p.depth * kPanel;
}
int64_t panel_size(const RowProduct& p, const uint16_t*) {
  return int64_t(p.taps) * ((p.depth + 1) / 2) * 2 * kPanel;
}

template <typename In, typename Out>
void product(const RowProduct& p, const Range& range) {
  const In* input = static_cast<const In*>(p.input);
  const In* weights = static_cast<const In*>(p.weights);
  for (int row = range.first_row; row < range.last_row; ++row) {
    const int64_t to = p.output_rows ? p.output_rows[row] : row;
    Out* output = static_cast<Out*>(p.output) + to * p.output_stride;
    for (int panel = range.first_panel; panel < range.last_panel; ++panel) {
      const In* panel_weights = weights + panel * panel_size(p, weights);
      for (int lane = 0; lane < kPanel && panel * kPanel + lane < p.columns; ++lane) {
        const int column = panel * kPanel + lane;
        float sum = p.bias[column];
        for (int tap = 0; tap < p.taps; ++tap) {
          const int64_t from = p.input_rows ? p.input_rows[int64_t(row) * p.taps + tap] : row;
          const In* values = input + from * p.input_stride;
          for (int k = 0; k < p.depth; ++k) {
            sum +=
                value_of(values[k]) * value_of(panel_weights[weight_at(p, weights, tap, k, lane)]);
          }
        }
        if (p.add) sum += value_of(output[column]);
        if (p.relu) sum = std::max(sum, 0.0f);
        store(sum, output + column);
      }
    }
  }
}

template <typename Out>
void norm(const RowNorm& n, int first_row, int last_row) {
  for (int row = first_row; row < last_row; ++row) {
    const float* input = n.input + (n.rows ? n.rows[row] : row) * n.input_stride;
    Out* output = static_cast<Out*>(n.output) + row * n.output_stride;
    for (int c = 0; c < n.channels; ++c) {
      store(std::max(n.scale[c] * input[c] + n.shift[c], 0.0f), output + c);
    }
  }
}

}  // namespace

const Table& scalar_table() {
  static const Table table = {"scalar",
                              kPanel,
                              1,
                              product<float, float>,
                              product<uint16_t, uint16_t>,
                              product<uint16_t, float>,
                              norm<float>,
                              norm<uint16_t>};
  return table;
}

}  // namespace sact::kernels
