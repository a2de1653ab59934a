// The kernels on Highway: one source, compiled for every instruction set that pays.
#include "kernels/cpu/simd.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"

// SSE is too slow to matter beside the scalar form's simplicity; vectors of unknown length cannot
// be held in arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sact::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Bits = hn::ScalableTag<uint32_t>;
using Vector = hn::Vec<Floats>;

constexpr int kLanes = int(hn::MaxLanes(Floats()));
constexpr int kPanel = 2 * kLanes;
// Two vectors of sums for every row, two of weights and one of the input must fit the registers.
constexpr int kTileRows = HWY_TARGET == HWY_AVX2                   ? 6
                          : kLanes == 16 || HWY_TARGET == HWY_NEON ? 12
                                                                   : 4;

HWY_INLINE Vector stored(const float* from) {
  return hn::LoadU(Floats(), from);
}

HWY_INLINE void store(Vector value, float* to) {
  hn::StoreU(value, Floats(), to);
}

HWY_INLINE void store(Vector value, uint16_t* to) {
  HWY_ALIGN float buffer[kLanes];
  hn::Store(value, Floats(), buffer);
  for (int i = 0; i < kLanes; ++i) to[i] = bf16_from_float(buffer[i]);
}

/// One step through the depth: one value of float32 rows, two of bfloat16 rows.
template <int kRows>
HWY_INLINE void multiply(const float* const (&rows)[kRows], int depth, const float*& weights,
                         Vector (&sums)[kRows][2]) {
  const Floats d;
  for (int k = 0; k < depth; ++k, weights += kPanel) {
    const Vector w0 = hn::LoadU(d, weights), w1 = hn::LoadU(d, weights + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(d, rows[r][k]);
      sums[r][0] = hn::MulAdd(x, w0, sums[r][0]);
      sums[r][1] = hn::MulAdd(x, w1, sums[r][1]);
    }
  }
}

template <int kRows>
HWY_INLINE void multiply(const uint16_t* const (&rows)[kRows], int depth, const uint16_t*& weights,
                         Vector (&sums)[kRows][2]) {
  const Floats d;
  const Bits bits;
  // A pair of bfloat16 is one word: the upper half is a float once the lower is cleared.
  auto low = [&](hn::Vec<Bits> pair) { return hn::BitCast(d, hn::ShiftLeft<16>(pair)); };
  auto high = [&](hn::Vec<Bits> pair) {
    return hn::BitCast(d, hn::And(pair, hn::Set(bits, 0xffff0000u)));
  };
  for (int k = 0; k < depth; k += 2, weights += 2 * kPanel) {
    const auto* words = reinterpret_cast<const uint32_t*>(weights);
    const auto pair0 = hn::LoadU(bits, words), pair1 = hn::LoadU(bits, words + kLanes);
    const bool whole = k + 1 < depth;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vector x0 = hn::Set(d, float_from_bf16(rows[r][k]));
      const Vector x1 = hn::Set(d, whole ? float_from_bf16(rows[r][k + 1]) : 0.0f);
      sums[r][0] = hn::MulAdd(x1, high(pair0), hn::MulAdd(x0, low(pair0), sums[r][0]));
      sums[r][1] = hn::MulAdd(x1, high(pair1), hn::MulAdd(x0, low(pair1), sums[r][1]));
    }
  }
}

HWY_INLINE int64_t panel_elements(const RowProduct& p, const float*) {
  return int64_t(p.taps) * p.depth * kPanel;
}
HWY_INLINE int64_t panel_elements(const RowProduct& p, const uint16_t*) {
  return int64_t(p.taps) * ((p.depth + 1) / 2) * 2 * kPanel;
}

/// kRows rows times one panel of columns.
template <int kRows, typename In, typename Out>
void tile(const RowProduct& p, int first, int panel) {
  const Floats d;
  const In* input = static_cast<const In*>(p.input);
  const In* weights = static_cast<const In*>(p.weights);
  weights += panel * panel_elements(p, weights);
  const float* bias = p.bias + panel * kPanel;
  Vector sums[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = hn::LoadU(d, bias);
    sums[r][1] = hn::LoadU(d, bias + kLanes);
  }
  for (int tap = 0; tap < p.taps; ++tap) {
    const In* rows[kRows];
    for (int r = 0; r < kRows; ++r) {
      const int64_t from =
          p.input_rows ? p.input_rows[int64_t(first + r) * p.taps + tap] : first + r;
      rows[r] = input + from * p.input_stride;
    }
    multiply<kRows>(rows, p.depth, weights, sums);
  }
  const int columns = std::min(p.columns - panel * kPanel, kPanel);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const int64_t to = p.output_rows ? p.output_rows[first + r] : first + r;
    Out* output = static_cast<Out*>(p.output) + to * p.output_stride + panel * kPanel;
    Out whole[kPanel];
    Out* target = output;
    if (columns < kPanel) {  // the last panel: go through a buffer, write only what is there
      std::memcpy(whole, output, size_t(columns) * sizeof(Out));
      target = whole;
    }
    for (int half = 0; half < 2; ++half) {
      Vector sum = sums[r][half];
      if constexpr (sizeof(Out) == sizeof(float)) {
        if (p.add) sum = hn::Add(sum, stored(target + half * kLanes));
      }
      if (p.relu) sum = hn::Max(sum, hn::Zero(d));
      store(sum, target + half * kLanes);
    }
    if (columns < kPanel) std::memcpy(output, whole, size_t(columns) * sizeof(Out));
  }
}

template <typename In, typename Out, int kRows = kTileRows>
void tile_of(int rows, const RowProduct& p, int first, int panel) {
  if (rows == kRows) return tile<kRows, In, Out>(p, first, panel);
  if constexpr (kRows > 1) tile_of<In, Out, kRows - 1>(rows, p, first, panel);
}

template <typename In, typename Out>
void product(const RowProduct& p, const Range& range) {
  const int rows = range.last_row - range.first_row;
  if (rows <= 0) return;
  // Tiles of equal height, so that none is left with a row or two.
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  for (int panel = range.first_panel; panel < range.last_panel; ++panel) {
    for (int t = 0; t < tiles; ++t) {
      const int first = range.first_row + int(int64_t(rows) * t / tiles);
      const int last = range.first_row + int(int64_t(rows) * (t + 1) / tiles);
      tile_of<In, Out>(last - first, p, first, panel);
    }
  }
}

template <typename Out>
void norm(const RowNorm& n, int first_row, int last_row) {
  const Floats d;
  for (int row = first_row; row < last_row; ++row) {
    const float* input = n.input + (n.rows ? n.rows[row] : row) * n.input_stride;
    Out* output = static_cast<Out*>(n.output) + row * n.output_stride;
    int c = 0;
    for (; c + kLanes <= n.channels; c += kLanes) {
      const Vector value =
          hn::MulAdd(hn::LoadU(d, n.scale + c), hn::LoadU(d, input + c), hn::LoadU(d, n.shift + c));
      store(hn::Max(value, hn::Zero(d)), output + c);
    }
    for (; c < n.channels; ++c) {
      const float value = std::max(n.scale[c] * input[c] + n.shift[c], 0.0f);
      if constexpr (sizeof(Out) == sizeof(float)) {
        output[c] = value;
      } else {
        output[c] = bf16_from_float(value);
      }
    }
  }
}

const Table* make_table() {
  static const Table table = {hwy::TargetName(HWY_TARGET),
                              kPanel,
                              kTileRows,
                              product<float, float>,
                              product<uint16_t, uint16_t>,
                              product<uint16_t, float>,
                              norm<float>,
                              norm<uint16_t>};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sact::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sact::kernels {

HWY_EXPORT(make_table);

std::vector<const Table*> simd_tables() {
  std::vector<const Table*> tables;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {  // best first
    hwy::SetSupportedTargetsForTest(target);
    tables.insert(tables.begin(), HWY_DYNAMIC_DISPATCH(make_table)());
  }
  hwy::SetSupportedTargetsForTest(0);
  return tables;
}

}  // namespace sact::kernels
#endif
