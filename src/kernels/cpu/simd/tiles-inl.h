// Products of bfloat16 over lists of rows on tile registers, in hardware (AMX) or emulated.
// Included once for every target, in its namespace.
//
// A block is two tiles of rows times two of columns: each step of the depth loads four tiles and
// does four products. It knows nothing of lists: row_tiles.h cuts them into tiles. Sums go through
// a piece of memory in the first cache to the epilogues of all other kernels.

constexpr int kTilePanel = 2 * kTileColumns;
constexpr int kStepElements = kTilePairs * kTilePanel * 2;  // weights of one step
constexpr int kTileSums = kTileHeight * kTilePanel;

/// Weights of one panel.
HWY_INLINE int64_t tile_panel_size(const RowProduct& p) {
  return p.taps * padded_depth(p.depth, kTileDepth) * kTilePanel;
}

/// The fewer blocks use a panel, the more the way of the next from memory counts: then each asks
/// for its part of that.
HWY_INLINE Ahead tiles_ahead(const void* next, int64_t bytes, int block, int blocks) {
  if (blocks > kMostTilesAhead || !next) return {};
  constexpr int kStepLines = kStepElements * int(sizeof(uint16_t)) / kCacheLine;
  return {static_cast<const char*>(next) + bytes * block / blocks,
          (kStepLines + blocks - 1) / blocks};
}

/// One tile of rows, or two, times one panel: sums[tile][row][column].
template <bool kTwo, typename Tiles>
HWY_INLINE void tile_block(Tiles& tiles, const RowProduct& p, const RowTiles& rows,
                           const RowTile* const (&pair)[2], int panel, Ahead ahead, float* sums) {
  constexpr int kWeightStride = kTilePanel * 4, kSumStride = kTilePanel * 4;
  const auto* weights = static_cast<const uint16_t*>(p.weights) + panel * tile_panel_size(p);
  const float* bias = p.bias + panel * kTilePanel;
  tiles.template load<0>(bias, 0);
  tiles.template load<1>(bias + kTileColumns, 0);
  if constexpr (kTwo) {
    tiles.template load<2>(bias, 0);
    tiles.template load<3>(bias + kTileColumns, 0);
  }
  const int steps = int(padded_depth(p.depth, kTileDepth)) / kTileDepth;
  for (int tap = 0; tap < p.taps; ++tap) {
    const std::byte* from0 = rows.source(*pair[0], tap);
    const std::byte* from1 = kTwo ? rows.source(*pair[1], tap) : nullptr;
    for (int step = 0; step < steps; ++step) {
      ahead.step();
      tiles.template load<kWeightsTile>(weights, kWeightStride);
      tiles.template load<kRowsTile>(from0, pair[0]->row_bytes);
      tiles.template load<kSecondWeightsTile>(weights + kTilePanel, kWeightStride);
      tiles.template dot<0, kRowsTile, kWeightsTile>();
      tiles.template dot<1, kRowsTile, kSecondWeightsTile>();
      from0 += pair[0]->step_bytes;
      if constexpr (kTwo) {
        tiles.template load<kSecondRowsTile>(from1, pair[1]->row_bytes);
        tiles.template dot<2, kSecondRowsTile, kWeightsTile>();
        tiles.template dot<3, kSecondRowsTile, kSecondWeightsTile>();
        from1 += pair[1]->step_bytes;
      }
      weights += kStepElements;
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
template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_tile_row(const RowProduct& p, int i, int column, const float* sums) {
  const Floats d;
  const Place<typename Out::Element> place(p, i, column);
  const Vector remainder = hn::Set(d, place.remainder);
  if constexpr (kKind.mean && !kKind.whole) {
    if (place.remainder == 1) return finish_tile_row<unscored(kKind), Out>(p, i, column, sums);
  }
#pragma GCC unroll 8
  for (int c = 0; c < kTilePanel; c += kLanes) {
    finish_vector<kKind, Out>(hn::LoadU(d, sums + c), remainder, place.output, place.mean, c);
  }
}

template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_tile(const RowProduct& p, const RowTile& tile, int column,
                            const float* sums) {
  const bool whole = p.columns - column >= kTilePanel;
  for (int r = 0; r < tile.height; ++r, sums += kTilePanel) {
    const int i = tile.outputs[r];
    if (i < 0) continue;
    if (HWY_LIKELY(whole)) {
      finish_tile_row<kKind, Out>(p, i, column, sums);
    } else {
      finish_part<kKind, Out, kTilePanel>(p, i, 1, column, sums);
    }
  }
}

template <typename Tiles, EpilogueKind kKind, typename Out>
void multiply_tiles(const RowProduct& p, const RowTiles& rows) {
  alignas(64) float sums[2][2 * kTileSums];  // in turns: a block need not wait for the one before
  const int count = int(rows.tiles().size()), blocks = (count + 1) / 2;
  const auto* weights = static_cast<const uint16_t*>(p.weights);
  const int64_t panel_size = tile_panel_size(p);
  Tiles tiles;
  TileHeights heights;
  int turn = 0;
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_size : p.next_weights;
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
      const Ahead ahead = tiles_ahead(next, panel_size * int64_t(sizeof *weights), block, blocks);
      two ? tile_block<true>(tiles, p, rows, pair, panel, ahead, sums[turn])
          : tile_block<false>(tiles, p, rows, pair, panel, ahead, sums[turn]);
      for (int t = 0; t <= int(two); ++t) {
        finish_tile<kKind, Out>(p, *pair[t], column, sums[turn] + t * kTileSums);
      }
    }
  }
  tiles.release();
}

template <typename Tiles, typename Out>
void tile_product(const RowProduct& p) {
  if (p.rows <= 0) return;
  RowTiles& rows = thread_row_tiles();
  rows.cut(p);
  with_epilogue<Out>(p.epilogue, [&](auto constant) {
    multiply_tiles<Tiles, decltype(constant)::value, Out>(p, rows);
  });
}

template <typename Tiles>
int64_t tile_multiply_adds(int64_t steps) {
  alignas(64) static const std::byte zeros[kTileHeight * kTileRowBytes] = {};
  Tiles tiles;
  tiles.configure({kTileHeight, kTileHeight});
  tiles.template load<kRowsTile>(zeros, kTileRowBytes);
  tiles.template load<kSecondRowsTile>(zeros, kTileRowBytes);
  tiles.template load<kWeightsTile>(zeros, kTileRowBytes);
  tiles.template load<kSecondWeightsTile>(zeros, kTileRowBytes);
  for (int64_t step = 0; step < steps; ++step) {
    tiles.template dot<0, kRowsTile, kWeightsTile>();
    tiles.template dot<1, kRowsTile, kSecondWeightsTile>();
    tiles.template dot<2, kSecondRowsTile, kWeightsTile>();
    tiles.template dot<3, kSecondRowsTile, kSecondWeightsTile>();
  }
  tiles.release();
  return steps * 4 * 2 * kTileHeight * kTileColumns * kTileDepth;
}

/// All functions of bfloat16 on tiles; `Out` stores rows of it.
template <typename Tiles, typename Out>
TypedFunctions tile_functions() {
  return {.type = DataType::kBFloat16,
          .native = true,
          .panel_columns = kTilePanel,
          .depth_step = kTileDepth,
          .tile_rows = kTileHeight,
          .likes_borders = true,
          .product = tile_product<Tiles, Out>,
          .product_to_f32 = tile_product<Tiles, FloatVectors>,
          .norm = norm<Out>,
          .multiply_adds = tile_multiply_adds<Tiles>};
}
