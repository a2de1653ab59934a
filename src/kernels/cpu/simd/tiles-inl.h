// Products over lists of rows on tile registers, in hardware (AMX) or emulated. Included once for
// every target, in its namespace. `Operands` has the elements of rows and weights, and what is done
// with tiles of them: see TilesOfPairs.
//
// A block is two tiles of rows times two of columns: each step of the depth loads four tiles and
// does four products. It knows nothing of lists: row_tiles.h cuts them into tiles. Sums go through
// a piece of memory in the first cache to the epilogues of all other kernels.

constexpr int kTilePanel = 2 * kTileColumns;
constexpr int kStepBytes = kTileGroups * kTilePanel * 4;  // weights of one step
constexpr int kTileSums = kTileHeight * kTilePanel;
constexpr int kTileVectors = kTilePanel / kLanes;

/// Pairs of bfloat16. Sums begin with the bias; nothing is left to do for them at the end.
struct TilesOfPairs {
  using Sum = float;
  static constexpr DataType kType = DataType::kBFloat16;
  static constexpr int kBytes = 2;  // of an element

  template <int kTile, typename Tiles>
  static HWY_INLINE void start(Tiles& tiles, const float* bias) {
    tiles.template load<kTile>(bias, 0);
  }
  template <int kSums, int kRows, int kWeights, typename Tiles>
  static HWY_INLINE void multiply(Tiles& tiles) {
    tiles.template dot<kSums, kRows, kWeights>();
  }
  /// What finishes the sums of a panel.
  struct Finish {
    HWY_INLINE Finish(const RowProduct&, int /*column*/) {}
    HWY_INLINE Vector sum(const float* sums, int vector) const {
      return hn::LoadU(Floats(), sums + vector * kLanes);
    }
  };
};

/// Fours of whole numbers of 8 bits.
struct TilesOfFours {
  using Sum = int32_t;
  static constexpr DataType kType = DataType::kInt8;
  static constexpr int kBytes = 1;

  template <int kTile, typename Tiles>
  static HWY_INLINE void start(Tiles& tiles, const float* /*bias*/) {
    tiles.template clear<kTile>();
  }
  template <int kSums, int kRows, int kWeights, typename Tiles>
  static HWY_INLINE void multiply(Tiles& tiles) {
    tiles.template dot_bytes<kSums, kRows, kWeights>();
  }
  struct Finish {
    Vector scales[kTileVectors], bias[kTileVectors];

    HWY_INLINE Finish(const RowProduct& p, int column) {
#pragma GCC unroll 8
      for (int v = 0; v < kTileVectors; ++v) {
        scales[v] = hn::LoadU(Floats(), p.scales + column + v * kLanes);
        bias[v] = hn::LoadU(Floats(), p.bias + column + v * kLanes);
      }
    }
    HWY_INLINE Vector sum(const int32_t* sums, int vector) const {
      const hn::RebindToSigned<Floats> integers;
      const auto whole = hn::LoadU(integers, sums + vector * kLanes);
      return hn::MulAdd(hn::ConvertTo(Floats(), whole), scales[vector], bias[vector]);
    }
  };
};

/// Weights of one panel, in bytes.
template <typename Operands>
HWY_INLINE int64_t tile_panel_bytes(const RowProduct& p) {
  return p.taps * padded_depth(p.depth, tile_depth(Operands::kBytes)) * kTilePanel *
         Operands::kBytes;
}

/// The fewer blocks use a panel, the more the way of the next from memory counts: then each asks
/// for its part of that.
HWY_INLINE Ahead tiles_ahead(const void* next, int64_t bytes, int block, int blocks) {
  if (blocks > kMostTilesAhead || !next) return {};
  constexpr int kStepLines = kStepBytes / kCacheLine;
  return {static_cast<const char*>(next) + bytes * block / blocks,
          (kStepLines + blocks - 1) / blocks};
}

/// One tile of rows, or two, times one panel: sums[tile][row][column].
template <bool kTwo, typename Operands, typename Tiles>
HWY_INLINE void tile_block(Tiles& tiles, const RowProduct& p, const RowTiles& rows,
                           const RowTile* const (&pair)[2], int panel, Ahead ahead,
                           typename Operands::Sum* sums) {
  constexpr int kWeightStride = kTilePanel * 4, kSumStride = kTilePanel * 4;
  const auto* weights =
      static_cast<const std::byte*>(p.weights) + panel * tile_panel_bytes<Operands>(p);
  const float* bias = p.bias + panel * kTilePanel;
  Operands::template start<0>(tiles, bias);
  Operands::template start<1>(tiles, bias + kTileColumns);
  if constexpr (kTwo) {
    Operands::template start<2>(tiles, bias);
    Operands::template start<3>(tiles, bias + kTileColumns);
  }
  constexpr int kDepth = tile_depth(Operands::kBytes);
  const int steps = int(padded_depth(p.depth, kDepth)) / kDepth;
  for (int tap = 0; tap < p.taps; ++tap) {
    const std::byte* from0 = rows.source(*pair[0], tap);
    const std::byte* from1 = kTwo ? rows.source(*pair[1], tap) : nullptr;
    for (int step = 0; step < steps; ++step) {
      ahead.step();
      tiles.template load<kWeightsTile>(weights, kWeightStride);
      tiles.template load<kRowsTile>(from0, pair[0]->row_bytes);
      tiles.template load<kSecondWeightsTile>(weights + kTileRowBytes, kWeightStride);
      Operands::template multiply<0, kRowsTile, kWeightsTile>(tiles);
      Operands::template multiply<1, kRowsTile, kSecondWeightsTile>(tiles);
      from0 += pair[0]->step_bytes;
      if constexpr (kTwo) {
        tiles.template load<kSecondRowsTile>(from1, pair[1]->row_bytes);
        Operands::template multiply<2, kSecondRowsTile, kWeightsTile>(tiles);
        Operands::template multiply<3, kSecondRowsTile, kSecondWeightsTile>(tiles);
        from1 += pair[1]->step_bytes;
      }
      weights += kStepBytes;
    }
  }
  tiles.template store<0>(sums, kSumStride);
  tiles.template store<1>(sums + kTileColumns, kSumStride);
  if constexpr (kTwo) {
    tiles.template store<2>(sums + kTileSums, kSumStride);
    tiles.template store<3>(sums + kTileSums + kTileColumns, kSumStride);
  }
}

/// Asks for what residuals of a tile will be added to.
HWY_INLINE void ask_for_outputs(const RowProduct& p, const RowTile& tile, int column) {
  for (int r = 0; r < tile.height; ++r) {
    if (tile.outputs[r] < 0) continue;
    const Place<float> place(p, tile.outputs[r], column);
    for (int c = 0; c < kTilePanel; c += kCacheLine / int(sizeof(float))) {
      __builtin_prefetch(place.output + c, /*write=*/1);
      if (place.mean && place.remainder != 1) __builtin_prefetch(place.mean + c, /*write=*/1);
    }
  }
}

/// One row of a whole panel.
template <EpilogueKind kKind, typename Out, typename Operands>
HWY_INLINE void finish_tile_row(const RowProduct& p, int i, int column,
                                const typename Operands::Finish& finish,
                                const typename Operands::Sum* sums) {
  const Place<typename Out::Element> place(p, i, column);
  const Vector remainder = hn::Set(Floats(), place.remainder);
  if constexpr (kKind.mean && !kKind.whole) {
    if (place.remainder == 1) {
      return finish_tile_row<unscored(kKind), Out, Operands>(p, i, column, finish, sums);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kTileVectors; ++v) {
    finish_vector<kKind, Out>(finish.sum(sums, v), remainder, place.output, place.mean, v * kLanes);
  }
}

/// One row of a panel of which only some columns are there.
template <EpilogueKind kKind, typename Out, typename Operands>
HWY_NOINLINE void finish_part_of_row(const RowProduct& p, int i, int column,
                                     const typename Operands::Finish& finish,
                                     const typename Operands::Sum* sums) {
  alignas(64) float finished[kTilePanel];
  for (int v = 0; v < kTileVectors; ++v) {
    hn::StoreU(finish.sum(sums, v), Floats(), finished + v * kLanes);
  }
  finish_part<kKind, Out, kTilePanel>(p, i, 1, column, finished);
}

template <EpilogueKind kKind, typename Out, typename Operands>
HWY_INLINE void finish_tile(const RowProduct& p, const RowTile& tile, int column,
                            const typename Operands::Sum* sums) {
  const typename Operands::Finish finish(p, column);
  const bool whole = p.columns - column >= kTilePanel;
  for (int r = 0; r < tile.height; ++r, sums += kTilePanel) {
    const int i = tile.outputs[r];
    if (i < 0) continue;
    if (HWY_LIKELY(whole)) {
      finish_tile_row<kKind, Out, Operands>(p, i, column, finish, sums);
    } else {
      finish_part_of_row<kKind, Out, Operands>(p, i, column, finish, sums);
    }
  }
}

template <typename Operands, typename Tiles, EpilogueKind kKind, typename Out>
void multiply_tiles(const RowProduct& p, const RowTiles& rows) {
  // In turns: a block need not wait for the one before.
  alignas(64) typename Operands::Sum sums[2][2 * kTileSums];
  const int count = int(rows.tiles().size()), blocks = (count + 1) / 2;
  const auto* weights = static_cast<const std::byte*>(p.weights);
  const int64_t panel_bytes = tile_panel_bytes<Operands>(p);
  Tiles tiles;
  TileHeights heights;
  int turn = 0;
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_bytes : p.next_weights;
    const int column = panel * kTilePanel;
    for (int block = 0; block < blocks; ++block, turn ^= 1) {
      const bool two = 2 * block + 1 < count;
      const RowTile* first = &rows.tiles()[size_t(2 * block)];
      const RowTile* const pair[2] = {first, two ? first + 1 : first};
      const TileHeights wanted{pair[0]->height, pair[1]->height};
      if (!(wanted == heights)) tiles.configure(heights = wanted);
      if constexpr (kKind.add) {
        for (int t = 0; t <= int(two); ++t) ask_for_outputs(p, *pair[t], column);
      }
      const Ahead ahead = tiles_ahead(next, panel_bytes, block, blocks);
      two ? tile_block<true, Operands>(tiles, p, rows, pair, panel, ahead, sums[turn])
          : tile_block<false, Operands>(tiles, p, rows, pair, panel, ahead, sums[turn]);
      for (int t = 0; t <= int(two); ++t) {
        finish_tile<kKind, Out, Operands>(p, *pair[t], column, sums[turn] + t * kTileSums);
      }
    }
  }
  tiles.release();
}

template <typename Operands, typename Tiles, typename Out>
void tile_product(const RowProduct& p) {
  if (p.rows <= 0) return;
  RowTiles& rows = thread_row_tiles();
  rows.cut(p, Operands::kBytes);
  with_epilogue<Out>(p.epilogue, [&](auto constant) {
    multiply_tiles<Operands, Tiles, decltype(constant)::value, Out>(p, rows);
  });
}

template <typename Operands, typename Tiles>
int64_t tile_multiply_adds(int64_t steps) {
  alignas(64) static const std::byte zeros[kTileHeight * kTileRowBytes] = {};
  Tiles tiles;
  tiles.configure({kTileHeight, kTileHeight});
  tiles.template load<kRowsTile>(zeros, kTileRowBytes);
  tiles.template load<kSecondRowsTile>(zeros, kTileRowBytes);
  tiles.template load<kWeightsTile>(zeros, kTileRowBytes);
  tiles.template load<kSecondWeightsTile>(zeros, kTileRowBytes);
  for (int64_t step = 0; step < steps; ++step) {
    Operands::template multiply<0, kRowsTile, kWeightsTile>(tiles);
    Operands::template multiply<1, kRowsTile, kSecondWeightsTile>(tiles);
    Operands::template multiply<2, kSecondRowsTile, kWeightsTile>(tiles);
    Operands::template multiply<3, kSecondRowsTile, kSecondWeightsTile>(tiles);
  }
  tiles.release();
  return steps * 4 * 2 * kTileHeight * kTileColumns * tile_depth(Operands::kBytes);
}

/// All functions of a type on tiles; `Out` stores rows of it.
template <typename Operands, typename Tiles, typename Out>
TypedFunctions tile_functions() {
  return {.type = Operands::kType,
          .native = true,
          .panel_columns = kTilePanel,
          .depth_step = tile_depth(Operands::kBytes),
          .tile_rows = kTileHeight,
          .likes_borders = true,
          .product = tile_product<Operands, Tiles, Out>,
          .product_to_f32 = tile_product<Operands, Tiles, FloatVectors>,
          .norm = norm<Out>,
          .multiply_adds = tile_multiply_adds<Operands, Tiles>};
}
