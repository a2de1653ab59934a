// The kernels on Highway. This file is compiled once for every instruction set, each time in a
// namespace and with compiler settings of its own: see simd.cpp, the only one to include it.
// SACT_NATIVE_BF16 is set where products of bfloat16 are an instruction.
//
// What makes a product fast is the tile: the sums of kTileRows rows and one panel of columns fill
// the registers, so that a step through the depth loads two vectors of weights and one number of
// each row, and does two multiply-adds for each row. Weights are read in the order they lie in;
// rows are read where they are, through pointers, and never copied together.

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<uint32_t>;
using Vector = hn::Vec<Floats>;

constexpr int kLanes = int(hn::MaxLanes(Floats()));
constexpr int kPanel = 2 * kLanes;
// Two vectors of sums for every row, two of weights and one of the input must fit the registers.
constexpr int kTileRows = HWY_TARGET == HWY_AVX2                   ? 6
                          : kLanes == 16 || HWY_TARGET == HWY_NEON ? 12
                                                                   : 4;
// Rows whose sums are kept in memory between taps: they fit the first cache.
constexpr int kChunkRows = 128;
constexpr int kCacheLine = 64;
constexpr int kMostTilesAhead = 10;

/// The larger of a number and a value, or the value where it is NaN, which must not be hidden.
/// Highway's Max leaves that case to the processor: x86 gives the second operand, and vmaxnm of
/// NEON the number.
HWY_INLINE Vector at_least(Vector number, Vector value) {
#if HWY_ARCH_X86
  return hn::Max(number, value);
#elif HWY_TARGET == HWY_NEON
  return Vector(vmaxq_f32(number.raw, value.raw));
#else
  return hn::IfThenElse(hn::Lt(value, number), number, value);
#endif
}

HWY_INLINE void store(float value, float* to) {
  *to = value;
}

HWY_INLINE void store(float value, uint16_t* to) {
  *to = bf16_from_float(value);
}

HWY_INLINE void store(Vector value, float* to) {
  hn::StoreU(value, Floats(), to);
}

HWY_INLINE void store(Vector value, uint16_t* to) {
#if SACT_NATIVE_BF16
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(value.raw));
#else
  // Rounds to the nearest, and of two to the even one. NaN stays NaN: its bits may be all ones,
  // which rounding would turn into zero.
  const Words words;
  const auto bits = hn::BitCast(words, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7fff)));
  const auto kept = hn::IfThenElse(hn::RebindMask(words, hn::IsNaN(value)),
                                   hn::Or(bits, hn::Set(words, 0x400000)), rounded);
  const hn::Rebind<uint16_t, Words> half;
  const hn::RebindToSigned<Words> integers;
  hn::StoreU(hn::DemoteTo(half, hn::BitCast(integers, hn::ShiftRight<16>(kept))), half, to);
#endif
}

template <int kRows>
using Sums = Vector[kRows][2];

/// Weights that are asked for while others are used, so that they wait in the second cache.
struct Ahead {
  const char* next = nullptr;
  int lines = 0;  // at every fourth step

  HWY_INLINE void step() {
    for (int line = 0; line < lines; ++line, next += kCacheLine) {
      __builtin_prefetch(next, /*write=*/0, /*locality=*/2);
    }
  }
};

/// Adds rows times weights to sums, `depth` steps long; weights moves on.
template <int kRows>
HWY_INLINE void multiply(const float* const (&rows)[kRows], int depth, const float*& weights,
                         Ahead& ahead, Sums<kRows>& sums) {
  const Floats d;
  auto step = [&](int k) SACT_INLINE_LAMBDA {
    const Vector w0 = hn::LoadU(d, weights), w1 = hn::LoadU(d, weights + kLanes);
    weights += kPanel;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(d, rows[r][k]);
      sums[r][0] = hn::MulAdd(x, w0, sums[r][0]);
      sums[r][1] = hn::MulAdd(x, w1, sums[r][1]);
    }
  };
  int k = 0;
  for (; k + 4 <= depth; k += 4) {
    ahead.step();
    step(k);
    step(k + 1);
    step(k + 2);
    step(k + 3);
  }
  for (; k < depth; ++k) step(k);
}

/// Two neighbouring numbers of a row; `whole` is false where the second is beyond its end.
HWY_INLINE uint32_t pair_at(const uint16_t* row, int k, bool whole) {
  if (!whole) return row[k];
  uint32_t pair;
  std::memcpy(&pair, row + k, sizeof pair);
  return pair;
}

template <int kRows>
HWY_INLINE void multiply(const uint16_t* const (&rows)[kRows], int depth, const uint16_t*& weights,
                         Ahead& ahead, Sums<kRows>& sums) {
  const Words words;
#if SACT_NATIVE_BF16
  auto step = [&](int k, bool whole) SACT_INLINE_LAMBDA {
    const __m512bh w0 = (__m512bh)_mm512_loadu_si512(weights);
    const __m512bh w1 = (__m512bh)_mm512_loadu_si512(weights + kPanel);
    weights += 2 * kPanel;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512bh x = (__m512bh)hn::Set(words, pair_at(rows[r], k, whole)).raw;
      sums[r][0].raw = _mm512_dpbf16_ps(sums[r][0].raw, x, w0);
      sums[r][1].raw = _mm512_dpbf16_ps(sums[r][1].raw, x, w1);
    }
  };
#else
  const Floats d;
  // A pair of bfloat16 is one word: the upper half is a float once the lower is cleared.
  auto low = [&](hn::Vec<Words> pair)
                 SACT_INLINE_LAMBDA { return hn::BitCast(d, hn::ShiftLeft<16>(pair)); };
  auto high = [&](hn::Vec<Words> pair) SACT_INLINE_LAMBDA {
    return hn::BitCast(d, hn::And(pair, hn::Set(words, 0xffff0000u)));
  };
  auto step = [&](int k, bool whole) SACT_INLINE_LAMBDA {
    const auto* from = reinterpret_cast<const uint32_t*>(weights);
    const auto pair0 = hn::LoadU(words, from), pair1 = hn::LoadU(words, from + kLanes);
    weights += 2 * kPanel;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto pair = hn::Set(words, pair_at(rows[r], k, whole));
      const Vector x0 = low(pair), x1 = high(pair);
      sums[r][0] = hn::MulAdd(x1, high(pair0), hn::MulAdd(x0, low(pair0), sums[r][0]));
      sums[r][1] = hn::MulAdd(x1, high(pair1), hn::MulAdd(x0, low(pair1), sums[r][1]));
    }
  };
#endif
  int k = 0;
  for (; k + 8 <= depth; k += 8) {
    ahead.step();
    step(k, true);
    step(k + 2, true);
    step(k + 4, true);
    step(k + 6, true);
  }
  for (; k < depth; k += 2) step(k, k + 1 < depth);
}

/// Weights of one tap of one panel.
HWY_INLINE int64_t tap_size(const RowProduct& p, const float*) {
  return int64_t(p.depth) * kPanel;
}
HWY_INLINE int64_t tap_size(const RowProduct& p, const uint16_t*) {
  return int64_t(p.depth + 1) / 2 * 2 * kPanel;
}

template <typename In>
HWY_INLINE const In* row_pointer(const RowProduct& p, int i, int tap) {
  const int64_t position = p.list ? p.list[i] : i;
  const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
  return static_cast<const In*>(p.input) + row * p.input_stride;
}

/// The form of an epilogue, which is known when its loop is compiled.
struct EpilogueKind {
  bool relu = false;
  bool add = false;    // to what the output holds
  bool mean = false;   // besides, to the mean of a block's states
  bool first = false;  // the mean begins with the state before
  bool store = true;   // false: only the mean is wanted
};

/// Calls work with the kind of a product's epilogue as a constant. Residuals have 32 bits.
template <typename Out, typename Work>
HWY_INLINE void with_epilogue(const RowProduct& p, const Work& work) {
  const auto call = [&]<EpilogueKind kKind>()
                        SACT_INLINE_LAMBDA { work(std::integral_constant<EpilogueKind, kKind>()); };
  const auto call_residual = [&]<bool kRelu>() SACT_INLINE_LAMBDA {
    if (!p.mean) {
      call.template operator()<EpilogueKind{kRelu, true}>();
    } else if (p.keep_output) {
      p.first_residual ? call.template operator()<EpilogueKind{kRelu, true, true, true, false}>()
                       : call.template operator()<EpilogueKind{kRelu, true, true, false, false}>();
    } else {
      p.first_residual ? call.template operator()<EpilogueKind{kRelu, true, true, true}>()
                       : call.template operator()<EpilogueKind{kRelu, true, true}>();
    }
  };
  if constexpr (sizeof(Out) == sizeof(float)) {
    if (p.add) {
      return p.relu ? call_residual.template operator()<true>()
                    : call_residual.template operator()<false>();
    }
  }
  p.relu ? call.template operator()<EpilogueKind{true}>()
         : call.template operator()<EpilogueKind{}>();
}

/// Where the row and panel of an output are.
template <typename Out>
struct Place {
  Out* output;
  float* mean;
  float remainder;

  HWY_INLINE Place(const RowProduct& p, int i, int panel) {
    const int64_t row = p.output_rows ? p.output_rows[i] : i;
    const int64_t offset = row * p.output_stride + int64_t(panel) * kPanel;
    output = static_cast<Out*>(p.output) + offset;
    mean = p.mean ? p.mean + offset : nullptr;
    remainder = p.mean ? p.remainders[row] : 0.0f;
  }
};

/// One vector of finished sums goes where it belongs, `column` elements from there.
template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_vector(Vector sum, Vector remainder, Out* output, float* mean, int column) {
  const Floats d;
  const Vector zero = hn::Zero(d);
  output += column;
  if constexpr (!kKind.add) {
    store(kKind.relu ? at_least(zero, sum) : sum, output);
  } else {
    Vector before = zero;
    if constexpr (kKind.relu || kKind.store || kKind.first) before = hn::LoadU(d, output);
    const Vector after = kKind.relu ? at_least(zero, hn::Add(before, sum)) : hn::Add(before, sum);
    if constexpr (kKind.mean) {
      mean += column;  // null for other kinds
      const Vector change = kKind.relu ? hn::Sub(after, before) : sum;
      const Vector start = kKind.first ? before : hn::LoadU(d, mean);
      hn::StoreU(hn::MulAdd(remainder, change, start), d, mean);
    }
    if constexpr (kKind.store) hn::StoreU(after, d, output);
  }
}

/// Both vectors of a panel.
template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_whole(const RowProduct& p, int i, int panel, Vector sum0, Vector sum1) {
  const Place<Out> place(p, i, panel);
  const Vector remainder = hn::Set(Floats(), place.remainder);
  finish_vector<kKind>(sum0, remainder, place.output, place.mean, 0);
  finish_vector<kKind>(sum1, remainder, place.output, place.mean, kLanes);
}

/// Of the last panel only the columns that there are; `sums` has whole panels.
template <EpilogueKind kKind, typename Out>
HWY_NOINLINE void finish_part(const RowProduct& p, int first, int rows, int panel,
                              const float* sums) {
  const Floats d;
  const size_t columns = size_t(p.columns - panel * kPanel);
  for (int r = 0; r < rows; ++r, sums += kPanel) {
    const Place<Out> place(p, first + r, panel);
    const Vector remainder = hn::Set(d, place.remainder);
    Out output[kPanel] = {};
    float mean[kPanel] = {};
    std::memcpy(output, place.output, columns * sizeof(Out));
    if (place.mean) std::memcpy(mean, place.mean, columns * sizeof(float));
    finish_vector<kKind>(hn::LoadU(d, sums), remainder, output, mean, 0);
    finish_vector<kKind>(hn::LoadU(d, sums + kLanes), remainder, output, mean, kLanes);
    std::memcpy(place.output, output, columns * sizeof(Out));
    if (place.mean) std::memcpy(place.mean, mean, columns * sizeof(float));
  }
}

/// Asks for the rows that residuals of a tile will be added to.
template <int kRows>
HWY_INLINE void ask_for_outputs(const RowProduct& p, int first, int panel) {
  for (int r = 0; r < kRows; ++r) {
    const Place<float> place(p, first + r, panel);
    for (int c = 0; c < kPanel; c += kCacheLine / int(sizeof(float))) {
      __builtin_prefetch(place.output + c, /*write=*/1);
      if (place.mean) __builtin_prefetch(place.mean + c, /*write=*/1);
    }
  }
}

/// Taps in registers: kRows rows from `first` on times one panel of columns.
template <int kRows, typename In, typename Out>
HWY_NOINLINE void register_tile(const RowProduct& p, int first, int panel, Ahead ahead) {
  const Floats d;
  const In* weights = static_cast<const In*>(p.weights);
  weights += panel * p.taps * tap_size(p, weights);
  const float* bias = p.bias + panel * kPanel;
  if (p.add) ask_for_outputs<kRows>(p, first, panel);
  Sums<kRows> sums;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = hn::LoadU(d, bias);
    sums[r][1] = hn::LoadU(d, bias + kLanes);
  }
  for (int tap = 0; tap < p.taps; ++tap) {
    const In* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = row_pointer<In>(p, first + r, tap);
    multiply<kRows>(rows, p.depth, weights, ahead, sums);
  }
  if (HWY_LIKELY(p.columns - panel * kPanel >= kPanel)) {
    with_epilogue<Out>(p, [&](auto constant) SACT_INLINE_LAMBDA {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        finish_whole<decltype(constant)::value, Out>(p, first + r, panel, sums[r][0], sums[r][1]);
      }
    });
  } else {
    alignas(64) float buffer[kRows * kPanel];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(sums[r][0], d, buffer + r * kPanel);
      hn::StoreU(sums[r][1], d, buffer + r * kPanel + kLanes);
    }
    with_epilogue<Out>(p, [&](auto constant) {
      finish_part<decltype(constant)::value, Out>(p, first, kRows, panel, buffer);
    });
  }
}

/// Taps in memory: one tap of kRows rows and one panel, added to their sums.
template <int kRows, typename In>
HWY_NOINLINE void memory_tile(const In* const* inputs, float* const* places, int depth,
                              const In* weights, Ahead ahead) {
  const Floats d;
  Sums<kRows> sums;
  const In* rows[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    rows[r] = inputs[r];
    sums[r][0] = hn::LoadU(d, places[r]);
    sums[r][1] = hn::LoadU(d, places[r] + kLanes);
  }
  multiply<kRows>(rows, depth, weights, ahead, sums);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(sums[r][0], d, places[r]);
    hn::StoreU(sums[r][1], d, places[r] + kLanes);
  }
}

/// Calls work with the height of a tile as a constant.
template <int kRows = kTileRows, typename Work>
HWY_INLINE void with_height(int rows, const Work& work) {
  if (rows == kRows) return work(std::integral_constant<int, kRows>());
  if constexpr (kRows > 1) with_height<kRows - 1>(rows, work);
}

/// Shares rows out to tiles of equal height, so that none is left with a row or two.
template <typename Work>
HWY_INLINE void for_each_tile(int rows, const Work& work) {
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  for (int t = 0; t < tiles; ++t) {
    const int first = int(int64_t(rows) * t / tiles), last = int(int64_t(rows) * (t + 1) / tiles);
    with_height(last - first, [&](auto height) { work(height, first, t, tiles); });
  }
}

/// The fewer tiles use a piece of weights, the more its way from memory counts: then each tile asks
/// for its part of the next piece. Four steps use kPanel * 4 words of weights.
HWY_INLINE Ahead part_ahead(const void* next, int64_t bytes, int tile, int tiles) {
  if (tiles > kMostTilesAhead || !next) return {};
  const int lines = (kPanel * 16 / kCacheLine + tiles - 1) / tiles;
  return {static_cast<const char*>(next) + bytes * tile / tiles, lines};
}

template <typename In, typename Out>
void product_in_registers(const RowProduct& p) {
  const In* weights = static_cast<const In*>(p.weights);
  const int64_t panel_size = p.taps * tap_size(p, weights);
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_size : p.next_weights;
    for_each_tile(p.rows, [&](auto height, int first, int tile, int tiles) {
      register_tile<decltype(height)::value, In, Out>(
          p, first, panel, part_ahead(next, panel_size * int64_t(sizeof(In)), tile, tiles));
    });
  }
}

/// Rows of one tap that have a neighbour there, and where their sums are.
template <typename In>
struct TapRows {
  int count = 0;
  const In* inputs[kChunkRows];
  float* places[kChunkRows];
};

/// Rows [first, first + rows) of a product with taps in memory.
template <typename In, typename Out>
void chunk_in_memory(const RowProduct& p, int first, int rows) {
  const Floats d;
  constexpr int kMostTaps = 9;
  alignas(64) float sums[kChunkRows * kPanel];
  TapRows<In> taps[kMostTaps];
  const In* zeros = static_cast<const In*>(p.input) + p.zero_row * p.input_stride;
  for (int tap = 0; tap < p.taps; ++tap) {
    for (int i = 0; i < rows; ++i) {
      const In* input = row_pointer<In>(p, first + i, tap);
      if (input == zeros) continue;
      taps[tap].inputs[taps[tap].count] = input;
      taps[tap].places[taps[tap].count++] = sums + i * kPanel;
    }
  }
  const In* all_weights = static_cast<const In*>(p.weights);
  const int64_t size = tap_size(p, all_weights);
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const float* bias = p.bias + panel * kPanel;
    const Vector bias0 = hn::LoadU(d, bias), bias1 = hn::LoadU(d, bias + kLanes);
    for (int i = 0; i < rows; ++i) {
      hn::StoreU(bias0, d, sums + i * kPanel);
      hn::StoreU(bias1, d, sums + i * kPanel + kLanes);
    }
    for (int tap = 0; tap < p.taps; ++tap) {
      const In* weights = all_weights + (int64_t(panel) * p.taps + tap) * size;
      const TapRows<In>& tap_rows = taps[tap];
      const bool more = tap + 1 < p.taps || panel + 1 < p.last_panel;
      const void* next = more ? weights + size : p.next_weights;
      for_each_tile(tap_rows.count, [&](auto height, int begin, int tile, int tiles) {
        memory_tile<decltype(height)::value, In>(
            tap_rows.inputs + begin, tap_rows.places + begin, p.depth, weights,
            part_ahead(next, size * int64_t(sizeof(In)), tile, tiles));
      });
    }
    with_epilogue<Out>(p, [&](auto constant) {
      constexpr EpilogueKind kKind = decltype(constant)::value;
      if (p.columns - panel * kPanel < kPanel) {
        return finish_part<kKind, Out>(p, first, rows, panel, sums);
      }
      for (int i = 0; i < rows; ++i) {
        finish_whole<kKind, Out>(p, first + i, panel, hn::LoadU(d, sums + i * kPanel),
                                 hn::LoadU(d, sums + i * kPanel + kLanes));
      }
    });
  }
}

template <typename In, typename Out>
void product(const RowProduct& p) {
  if (p.rows <= 0) return;
  const DataType type = sizeof(In) == sizeof(float) ? DataType::kFloat32 : DataType::kBFloat16;
  if (tap_order(p, type) == TapOrder::kRegisters) return product_in_registers<In, Out>(p);
  const int chunks = (p.rows + kChunkRows - 1) / kChunkRows;
  for (int c = 0; c < chunks; ++c) {
    const int first = int(int64_t(p.rows) * c / chunks);
    chunk_in_memory<In, Out>(p, first, int(int64_t(p.rows) * (c + 1) / chunks) - first);
  }
}

/// Numbers become operands as they are.
template <typename Out>
void convert(const RowNorm& n) {
  const Floats d;
  const int whole = n.channels / kLanes * kLanes;
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    Out* output = static_cast<Out*>(n.output) + i * n.output_stride;
    for (int c = 0; c < whole; c += kLanes) store(hn::LoadU(d, input + c), output + c);
    for (int c = whole; c < n.channels; ++c) store(input[c], output + c);
  }
}

template <typename Out>
void norm(const RowNorm& n) {
  if (!n.scale) return convert<Out>(n);
  const Floats d;
  const Vector zero = hn::Zero(d);
  const int whole = n.channels / kLanes * kLanes;
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    Out* output = static_cast<Out*>(n.output) + i * n.output_stride;
    auto value_at = [&](int c) SACT_INLINE_LAMBDA {
      return at_least(zero, hn::MulAdd(hn::LoadU(d, n.scale + c), hn::LoadU(d, input + c),
                                       hn::LoadU(d, n.shift + c)));
    };
    for (int c = 0; c < whole; c += kLanes) store(value_at(c), output + c);
    for (int c = whole; c < n.channels; ++c) {
      store(std::max(n.scale[c] * input[c] + n.shift[c], 0.0f), output + c);
    }
  }
}

/// Sums of neighbouring lanes: those of a, then those of b. Folding vectors in pairs until one is
/// left gives the sums of all their lanes in order, with far fewer steps than one by one.
HWY_INLINE Vector folded(Vector a, Vector b) {
  const Floats d;
  return hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
}

/// Writes the sum of the lanes of each of nine vectors, plus a shift; up to kScoreStride numbers
/// are overwritten.
HWY_INLINE void store_lane_sums(const Vector (&v)[kScoreTaps], const float* shifts, float* to) {
  const Floats d;
  if constexpr (kLanes == 16) {
    const Vector v01 = folded(v[0], v[1]), v23 = folded(v[2], v[3]), v45 = folded(v[4], v[5]);
    const Vector v67 = folded(v[6], v[7]), v88 = folded(v[8], v[8]);
    const Vector first = folded(folded(v01, v23), folded(v45, v67));
    const Vector last = folded(folded(v88, v88), folded(v88, v88));
    hn::StoreU(hn::Add(folded(first, last), hn::LoadU(d, shifts)), d, to);
  } else if constexpr (kLanes == 8) {
    const Vector sums = folded(folded(folded(v[0], v[1]), folded(v[2], v[3])),
                               folded(folded(v[4], v[5]), folded(v[6], v[7])));
    hn::StoreU(hn::Add(sums, hn::LoadU(d, shifts)), d, to);
    to[8] = shifts[8] + hn::GetLane(hn::SumOfLanes(d, v[8]));
  } else {
    for (int tap = 0; tap < kScoreTaps; ++tap) {
      to[tap] = shifts[tap] + hn::GetLane(hn::SumOfLanes(d, v[tap]));
    }
  }
}

template <int kRows>
HWY_INLINE void scores_of(const RowScores& s, const int32_t* rows) {
  const Floats d;
  Vector sums[kRows][kScoreTaps];
  const float* input[kRows];
#pragma GCC unroll 3
  for (int r = 0; r < kRows; ++r) {
    input[r] = s.input + rows[r] * s.input_stride;
#pragma GCC unroll 9
    for (int tap = 0; tap < kScoreTaps; ++tap) sums[r][tap] = hn::Zero(d);
  }
  const int whole = s.channels / kLanes * kLanes;
  for (int c = 0; c < whole; c += kLanes) {
    Vector x[kRows];
#pragma GCC unroll 3
    for (int r = 0; r < kRows; ++r) x[r] = hn::LoadU(d, input[r] + c);
#pragma GCC unroll 9
    for (int tap = 0; tap < kScoreTaps; ++tap) {
      const Vector weight = hn::LoadU(d, s.weights + int64_t(tap) * s.channels + c);
#pragma GCC unroll 3
      for (int r = 0; r < kRows; ++r) sums[r][tap] = hn::MulAdd(x[r], weight, sums[r][tap]);
    }
    if (s.sums) {
      Vector total = hn::LoadU(d, s.sums + c);
#pragma GCC unroll 3
      for (int r = 0; r < kRows; ++r) total = hn::Add(total, x[r]);
      hn::StoreU(total, d, s.sums + c);
    }
  }
#pragma GCC unroll 3
  for (int r = 0; r < kRows; ++r) {
    float* values = s.values + int64_t(rows[r]) * kScoreStride;
    store_lane_sums(sums[r], s.shifts, values);
    for (int c = whole; c < s.channels; ++c) {
      if (s.sums) s.sums[c] += input[r][c];
      for (int tap = 0; tap < kScoreTaps; ++tap) {
        values[tap] += input[r][c] * s.weights[int64_t(tap) * s.channels + c];
      }
    }
  }
}

void scores(const RowScores& s) {
  constexpr int kTogether = kLanes == 16 ? 3 : 1;  // as many as the registers hold
  int i = 0;
  for (; i + kTogether <= s.count; i += kTogether) scores_of<kTogether>(s, s.rows + i);
  for (; i < s.count; ++i) scores_of<1>(s, s.rows + i);
}

void sum(const RowSum& s) {
  const Floats d;
  auto input = [&](int i) SACT_INLINE_LAMBDA {
    return s.input + (s.rows ? s.rows[i] : i) * s.input_stride;
  };
  int c = 0;
  for (; c + 4 * kLanes <= s.channels; c += 4 * kLanes) {
    float* to = s.sums + c;
    Vector sum0 = hn::LoadU(d, to), sum1 = hn::LoadU(d, to + kLanes);
    Vector sum2 = hn::LoadU(d, to + 2 * kLanes), sum3 = hn::LoadU(d, to + 3 * kLanes);
    for (int i = 0; i < s.count; ++i) {
      const float* from = input(i) + c;
      sum0 = hn::Add(sum0, hn::LoadU(d, from));
      sum1 = hn::Add(sum1, hn::LoadU(d, from + kLanes));
      sum2 = hn::Add(sum2, hn::LoadU(d, from + 2 * kLanes));
      sum3 = hn::Add(sum3, hn::LoadU(d, from + 3 * kLanes));
    }
    hn::StoreU(sum0, d, to);
    hn::StoreU(sum1, d, to + kLanes);
    hn::StoreU(sum2, d, to + 2 * kLanes);
    hn::StoreU(sum3, d, to + 3 * kLanes);
  }
  for (; c < s.channels; ++c) {
    for (int i = 0; i < s.count; ++i) s.sums[c] += input(i)[c];
  }
}

HWY_INLINE float larger_or_nan(float a, float b) {
  return a != a || b <= a ? a : b;
}

void maximum(const RowMaximum& m) {
  const Floats d;
  for (int i = 0; i < m.count; ++i) {
    const float* rows[9];
    int count = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int32_t row = m.rows[i * 9 + tap];
      if (row != m.zero_row) rows[count++] = m.input + row * m.input_stride;
    }
    float* output = m.output + i * m.output_stride;
    if (count == 0) {
      std::fill_n(output, m.channels, -std::numeric_limits<float>::infinity());
      continue;
    }
    int c = 0;
    for (; c + kLanes <= m.channels; c += kLanes) {
      Vector largest = hn::LoadU(d, rows[0] + c);
      for (int k = 1; k < count; ++k) {
        const Vector larger = at_least(largest, hn::LoadU(d, rows[k] + c));
        largest = hn::IfThenElse(hn::IsNaN(largest), largest, larger);
      }
      hn::StoreU(largest, d, output + c);
    }
    for (; c < m.channels; ++c) {
      output[c] = rows[0][c];
      for (int k = 1; k < count; ++k) output[c] = larger_or_nan(output[c], rows[k][c]);
    }
  }
}

/// More sums than a multiply-add takes cycles, so that none waits for another.
constexpr int kPeakSums = 12;

template <typename In>
int64_t multiply_adds(int64_t steps) {
  const Floats d;
  volatile float number = 0.5f;
  const Vector factor = hn::Set(d, number);
  Vector sums[kPeakSums];
#pragma GCC unroll 12
  for (int i = 0; i < kPeakSums; ++i) sums[i] = factor;
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakSums; ++i) {
#if SACT_NATIVE_BF16
      if constexpr (sizeof(In) == 2) {
        sums[i].raw = _mm512_dpbf16_ps(sums[i].raw, (__m512bh)factor.raw, (__m512bh)factor.raw);
        continue;
      }
#endif
      sums[i] = hn::MulAdd(sums[i], factor, factor);
    }
  }
  for (const Vector& sum : sums) number = hn::GetLane(hn::SumOfLanes(d, sum));
  const int pairs = SACT_NATIVE_BF16 && sizeof(In) == 2 ? 2 : 1;
  return steps * kPeakSums * kLanes * 2 * pairs;
}

inline Table table_of(const char* name) {
  return {name,
          kPanel,
          kTileRows,
          SACT_NATIVE_BF16 != 0,
          {product<float, float>, product<float, float>, norm<float>, multiply_adds<float>},
          {product<uint16_t, uint16_t>, product<uint16_t, float>, norm<uint16_t>,
           multiply_adds<uint16_t>},
          scores,
          sum,
          maximum};
}
