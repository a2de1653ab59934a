// Products over lists of rows. Included once for every target, in its namespace. `Operands` has the
// elements of rows and weights, and what multiplies them:
//
//   template <int kRows>
//   static void multiply(const Element* const (&rows)[kRows], int depth, const Weight*& weights,
//                        Ahead& ahead, Sums<kRows>& sums);
//
// which adds rows times weights to sums, `depth` elements long; weights moves on. They may be
// stored in another form: see PlainWeights.

// Rows whose sums are kept in memory between taps: they fit the first cache.
constexpr int kChunkRows = 128;
constexpr int kCacheLine = 64;
constexpr int kMostTilesAhead = 10;

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

/// How weights are asked for.
struct AheadLimits {
  int step_bytes = kPanel * 16;  // that four steps use
  int most_tiles = kMostTilesAhead;
};

/// Weights of one tap of one panel.
template <typename Operands>
HWY_INLINE int64_t tap_size(const RowProduct& p) {
  return padded_depth(p.depth, Operands::kDepthGroup) * kPanel;
}

template <typename Operands>
HWY_INLINE const typename Operands::Element* row_pointer(const RowProduct& p, int i, int tap) {
  const int64_t position = p.list ? p.list[i] : i;
  const int64_t row = p.input_rows ? p.input_rows[position * p.taps + tap] : position;
  return static_cast<const typename Operands::Element*>(p.input) + row * p.input_stride;
}

/// Asks for the rows that residuals of a tile will be added to.
template <int kRows>
HWY_INLINE void ask_for_outputs(const RowProduct& p, int first, int panel) {
  for (int r = 0; r < kRows; ++r) {
    const Place<float> place(p, first + r, panel * kPanel);
    for (int c = 0; c < kPanel; c += kCacheLine / int(sizeof(float))) {
      __builtin_prefetch(place.output + c, /*write=*/1);
      if (place.mean && place.remainder != 1) __builtin_prefetch(place.mean + c, /*write=*/1);
    }
  }
}

/// Weights that are stored as they are multiplied.
template <typename Operands>
struct PlainWeights {
  using Weight = typename Operands::Weight;
  static constexpr AheadLimits kAhead = {};

  explicit PlainWeights(const RowProduct&) {}

  /// Calls work with the weights at `from`, of columns from there on, in the form in which one of
  /// the tiles that multiply with them passes them to multiply().
  template <typename Work>
  HWY_INLINE void with(const Weight* from, int /*column*/, int /*tile*/, const Work& work) const {
    work(from);
  }
};

/// Taps in registers: kRows rows from `first` on times one panel of columns.
template <int kRows, typename Operands, typename Out, typename Weights>
HWY_NOINLINE void register_tile(const RowProduct& p, int first, int panel, Weights weights,
                                Ahead ahead) {
  const Floats d;
  const float* bias = p.bias + panel * kPanel;
  if (p.epilogue.add) ask_for_outputs<kRows>(p, first, panel);
  Sums<kRows> sums;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = hn::LoadU(d, bias);
    sums[r][1] = hn::LoadU(d, bias + kLanes);
  }
  for (int tap = 0; tap < p.taps; ++tap) {
    const typename Operands::Element* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = row_pointer<Operands>(p, first + r, tap);
    Operands::template multiply<kRows>(rows, p.depth, weights, ahead, sums);
  }
  if (HWY_LIKELY(p.columns - panel * kPanel >= kPanel)) {
    with_epilogue<Out>(p.epilogue, [&](auto constant) SACT_INLINE_LAMBDA {
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
    with_epilogue<Out>(p.epilogue, [&](auto constant) {
      finish_part<decltype(constant)::value, Out>(p, first, kRows, panel * kPanel, buffer);
    });
  }
}

/// Taps in memory: one tap of kRows rows and one panel, added to their sums.
template <int kRows, typename Operands, typename Weights>
HWY_NOINLINE void memory_tile(const typename Operands::Element* const* inputs, float* const* places,
                              int depth, Weights weights, Ahead ahead) {
  const Floats d;
  Sums<kRows> sums;
  const typename Operands::Element* rows[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    rows[r] = inputs[r];
    sums[r][0] = hn::LoadU(d, places[r]);
    sums[r][1] = hn::LoadU(d, places[r] + kLanes);
  }
  Operands::template multiply<kRows>(rows, depth, weights, ahead, sums);
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
template <int kTallest = kTileRows, typename Work>
HWY_INLINE void for_each_tile(int rows, const Work& work) {
  const int tiles = (rows + kTallest - 1) / kTallest;
  for (int t = 0; t < tiles; ++t) {
    const int first = int(int64_t(rows) * t / tiles), last = int(int64_t(rows) * (t + 1) / tiles);
    with_height<kTallest>(last - first, [&](auto height) { work(height, first, t, tiles); });
  }
}

/// The fewer tiles use a piece of weights, the more its way from memory counts: then each tile asks
/// for its part of the next piece, at every fourth step.
HWY_INLINE Ahead part_ahead(const void* next, int64_t bytes, int tile, int tiles,
                            AheadLimits limits = {}) {
  if (tiles > limits.most_tiles || !next) return {};
  const int lines = (limits.step_bytes / kCacheLine + tiles - 1) / tiles;
  return {static_cast<const char*>(next) + bytes * tile / tiles, lines};
}

template <typename Operands, typename Out, typename Stored>
void product_in_registers(const RowProduct& p) {
  const Stored stored(p);
  const auto* weights = static_cast<const typename Stored::Weight*>(p.weights);
  const int64_t panel_size = p.taps * tap_size<Operands>(p);
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_size : p.next_weights;
    for_each_tile(p.rows, [&](auto height, int first, int tile, int tiles) {
      const Ahead ahead =
          part_ahead(next, panel_size * int64_t(sizeof *weights), tile, tiles, Stored::kAhead);
      stored.with(weights + panel * panel_size, panel * kPanel, tile, [&](auto from) {
        register_tile<decltype(height)::value, Operands, Out>(p, first, panel, from, ahead);
      });
    });
  }
}

/// Rows of one tap that have a neighbour there, and where their sums are.
template <typename Element>
struct TapRows {
  int count = 0;
  const Element* inputs[kChunkRows];
  float* places[kChunkRows];
};

/// Rows [first, first + rows) of a product with taps in memory.
template <typename Operands, typename Out, typename Stored>
void chunk_in_memory(const RowProduct& p, int first, int rows) {
  const Floats d;
  using Element = typename Operands::Element;
  constexpr int kMostTaps = 9;
  alignas(64) float sums[kChunkRows * kPanel];
  TapRows<Element> taps[kMostTaps];
  const Element* zeros = static_cast<const Element*>(p.input) + p.zero_row * p.input_stride;
  for (int tap = 0; tap < p.taps; ++tap) {
    for (int i = 0; i < rows; ++i) {
      const Element* input = row_pointer<Operands>(p, first + i, tap);
      if (input == zeros) continue;
      taps[tap].inputs[taps[tap].count] = input;
      taps[tap].places[taps[tap].count++] = sums + i * kPanel;
    }
  }
  const Stored stored(p);
  const auto* all_weights = static_cast<const typename Stored::Weight*>(p.weights);
  const int64_t size = tap_size<Operands>(p);
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const float* bias = p.bias + panel * kPanel;
    const Vector bias0 = hn::LoadU(d, bias), bias1 = hn::LoadU(d, bias + kLanes);
    for (int i = 0; i < rows; ++i) {
      hn::StoreU(bias0, d, sums + i * kPanel);
      hn::StoreU(bias1, d, sums + i * kPanel + kLanes);
    }
    for (int tap = 0; tap < p.taps; ++tap) {
      const auto* weights = all_weights + (int64_t(panel) * p.taps + tap) * size;
      const TapRows<Element>& tap_rows = taps[tap];
      const bool more = tap + 1 < p.taps || panel + 1 < p.last_panel;
      const void* next = more ? weights + size : p.next_weights;
      for_each_tile(tap_rows.count, [&](auto height, int begin, int tile, int tiles) {
        const Ahead ahead =
            part_ahead(next, size * int64_t(sizeof *weights), tile, tiles, Stored::kAhead);
        stored.with(weights, panel * kPanel, tile, [&](auto from) {
          memory_tile<decltype(height)::value, Operands>(
              tap_rows.inputs + begin, tap_rows.places + begin, p.depth, from, ahead);
        });
      });
    }
    with_epilogue<Out>(p.epilogue, [&](auto constant) {
      constexpr EpilogueKind kKind = decltype(constant)::value;
      if (p.columns - panel * kPanel < kPanel) {
        return finish_part<kKind, Out>(p, first, rows, panel * kPanel, sums);
      }
      for (int i = 0; i < rows; ++i) {
        finish_whole<kKind, Out>(p, first + i, panel, hn::LoadU(d, sums + i * kPanel),
                                 hn::LoadU(d, sums + i * kPanel + kLanes));
      }
    });
  }
}

template <typename Operands, typename Out, typename Stored = PlainWeights<Operands>>
void product(const RowProduct& p) {
  if (p.rows <= 0) return;
  if (tap_order(p, Operands::kType) == TapOrder::kRegisters) {
    return product_in_registers<Operands, Out, Stored>(p);
  }
  const int chunks = (p.rows + kChunkRows - 1) / kChunkRows;
  for (int c = 0; c < chunks; ++c) {
    const int first = int(int64_t(p.rows) * c / chunks);
    chunk_in_memory<Operands, Out, Stored>(p, first,
                                           int(int64_t(p.rows) * (c + 1) / chunks) - first);
  }
}
