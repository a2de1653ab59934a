// Products and norms in plain C++: the reference for those of every other instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/cpu/parts.h"

namespace sact::kernels::scalar {

inline constexpr int kPanel = 8;

/// Where the weight of (k, lane) lies in a tap.
template <typename Type>
int64_t weight_in_tap(int k, int lane) {
  constexpr int kGroup = Type::kDepthGroup;
  return (int64_t(k / kGroup) * kPanel + lane) * kGroup + k % kGroup;
}

/// The weight of a column that lies there.
template <typename Type>
float weight_at(const RowProduct& p, int64_t index, int column) {
  if constexpr (std::is_same_v<Type, Float32>) {
    const auto* halves = static_cast<const uint16_t*>(p.weights);
    switch (p.stored) {
      case WeightStorage::kBFloat16:
        return BFloat16::value(halves[index]) * p.scales[column];
      case WeightStorage::kFloat16:
        return Float16::value(halves[index]) * p.scales[column];
      case WeightStorage::kOperand:
        break;
    }
  }
  return Type::value(static_cast<const typename Type::Element*>(p.weights)[index]);
}

template <typename Type>
float row_sum(const RowProduct& p, int i, int column) {
  using Element = typename Type::Element;
  const Element* input = static_cast<const Element*>(p.input);
  const int64_t tap_size = padded_depth(p.depth, Type::kDepthGroup) * kPanel;
  const int64_t panel = column / kPanel * p.taps * tap_size;
  const int64_t position = p.list ? p.list[i] : i;
  float sum = p.bias[column];
  for (int tap = 0; tap < p.taps; ++tap) {
    const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
    const Element* values = input + row * p.input_stride;
    for (int k = 0; k < p.depth; ++k) {
      const int64_t index = panel + tap * tap_size + weight_in_tap<Type>(k, column % kPanel);
      sum += Type::value(values[k]) * weight_at<Type>(p, index, column);
    }
  }
  return sum;
}

/// a * b + c. With whole numbers rounded once, as all instruction sets do it, so that their results
/// are equal to the last bit.
template <typename Type>
float multiply_add(float a, float b, float c) {
  if constexpr (std::is_same_v<Type, Int8>) return std::fma(a, b, c);
  return a * b + c;
}

/// Whole numbers are summed up as such.
template <>
inline float row_sum<Int8>(const RowProduct& p, int i, int column) {
  const auto* weights = static_cast<const Int8::Weight*>(p.weights);
  const int64_t tap_size = padded_depth(p.depth, Int8::kDepthGroup) * kPanel;
  weights += column / kPanel * p.taps * tap_size;
  const int64_t position = p.list ? p.list[i] : i;
  int32_t sum = 0;
  for (int tap = 0; tap < p.taps; ++tap) {
    const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
    const auto* values = static_cast<const Int8::Element*>(p.input) + row * p.input_stride;
    for (int k = 0; k < p.depth; ++k) {
      sum += int32_t(values[k]) * weights[tap * tap_size + weight_in_tap<Int8>(k, column % kPanel)];
    }
  }
  return multiply_add<Int8>(float(sum), p.scales[column], p.bias[column]);
}

/// A finished sum goes where it belongs.
template <typename Type, typename Out>
void finish(const RowProduct& p, int64_t row, int column, float sum) {
  const Epilogue& e = p.epilogue;
  auto* output = static_cast<typename Out::Element*>(p.output) + row * p.output_stride;
  const float before = e.add ? Out::value(output[column]) : 0.0f;
  float after = e.add ? before + sum : sum;
  if (e.relu) after = std::max(after, 0.0f);  // in this order NaN stays NaN
  if (e.mean) {
    float& mean = e.mean[row * p.output_stride + column];
    const float change = e.relu ? after - before : sum;
    if (e.remainders[row] != 1) {
      mean = multiply_add<Type>(e.remainders[row], change, e.first_residual ? before : mean);
    } else if (e.mean_only) {
      mean = after;
    }
  }
  if (!e.mean_only) output[column] = Out::element(after);
}

template <typename Type, typename Out>
void product(const RowProduct& p) {
  const int last = std::min(p.columns, p.last_panel * kPanel);
  for (int i = 0; i < p.rows; ++i) {
    for (int column = p.first_panel * kPanel; column < last; ++column) {
      finish<Type, Out>(p, p.output_rows ? p.output_rows[i] : i, column,
                        row_sum<Type>(p, i, column));
    }
  }
}

template <typename Out>
void norm(const RowNorm& n) {
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    auto* output = static_cast<typename Out::Element*>(n.output) + i * n.output_stride;
    for (int c = 0; c < n.channels; ++c) {
      const float value =
          n.scale ? std::max(multiply_add<Out>(n.scale[c], input[c], n.shift[c]), 0.0f) : input[c];
      output[c] = Out::element(value);
    }
  }
}

inline int64_t multiply_adds(int64_t steps) {
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

template <typename Type>
std::vector<Part> typed_parts() {
  Part part{kScalarIsa};
  part.typed = {.type = Type::kType,
                .native = !std::is_same_v<Type, BFloat16>,
                .panel_columns = kPanel,
                .tile_rows = 1,
                .product = product<Type, Type>,
                .product_to_f32 = product<Type, Float32>,
                .norm = norm<Type>,
                .multiply_adds = multiply_adds};
  return {part};
}

}  // namespace sact::kernels::scalar
