// Convolutions over tiles by Winograd's transforms. Included once for every target, in its
// namespace, after the operands that it is for. Besides what product-inl.h asks for, they have
//
//   static Vector load(const Element* from);  // as floats, in which all transforms are done

/// The transforms along one line; tile_transforms() has them as matrices.
struct TilesOfTwo {
  static constexpr int kSide = 2, kInputs = 4;
  static constexpr int kTogether = 60;  // tiles whose sums stay in the second cache

  static HWY_INLINE void from_inputs(const Vector* x, Vector* to) {
    to[0] = hn::Sub(x[0], x[2]);
    to[1] = hn::Add(x[1], x[2]);
    to[2] = hn::Sub(x[2], x[1]);
    to[3] = hn::Sub(x[1], x[3]);
  }
  static HWY_INLINE void to_outputs(const Vector* x, Vector* to) {
    to[0] = hn::Add(hn::Add(x[0], x[1]), x[2]);
    to[1] = hn::Sub(hn::Sub(x[1], x[2]), x[3]);
  }
};

struct TilesOfFour {
  static constexpr int kSide = 4, kInputs = 6;
  static constexpr int kTogether = 24;

  static HWY_INLINE void from_inputs(const Vector* x, Vector* to) {
    const Floats d;
    const Vector two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
    to[0] = hn::MulAdd(four, x[0], hn::NegMulAdd(five, x[2], x[4]));
    const Vector even = hn::NegMulAdd(four, x[2], x[4]), odd = hn::NegMulAdd(four, x[1], x[3]);
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    const Vector even2 = hn::Sub(x[4], x[2]), odd2 = hn::Sub(x[3], x[1]);
    to[3] = hn::MulAdd(two, odd2, even2);
    to[4] = hn::NegMulAdd(two, odd2, even2);
    to[5] = hn::MulAdd(four, x[1], hn::NegMulAdd(five, x[3], x[5]));
  }
  static HWY_INLINE void to_outputs(const Vector* x, Vector* to) {
    const Floats d;
    const Vector two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), eight = hn::Set(d, 8.0f);
    const Vector sum = hn::Add(x[1], x[2]), difference = hn::Sub(x[1], x[2]);
    const Vector sum2 = hn::Add(x[3], x[4]), difference2 = hn::Sub(x[3], x[4]);
    to[0] = hn::Add(hn::Add(x[0], sum), sum2);
    to[1] = hn::MulAdd(two, difference2, difference);
    to[2] = hn::MulAdd(four, sum2, sum);
    to[3] = hn::Add(hn::MulAdd(eight, difference2, difference), x[5]);
  }
};

/// Some channels of a tile: a vector of each of its rows.
template <typename Form, typename Operands, typename Element = typename Operands::Element>
HWY_INLINE void transform_vectors(const Element* const* rows, int channel, Element* to,
                                  int64_t product_stride) {
  constexpr int kInputs = Form::kInputs;
  Vector half[kInputs * kInputs];
#pragma GCC unroll 6
  for (int j = 0; j < kInputs; ++j) {
    Vector line[kInputs], result[kInputs];
#pragma GCC unroll 6
    for (int i = 0; i < kInputs; ++i) {
      line[i] = Operands::load(rows[i * kInputs + j] + channel);
    }
    Form::from_inputs(line, result);
#pragma GCC unroll 6
    for (int i = 0; i < kInputs; ++i) half[i * kInputs + j] = result[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < kInputs; ++i) {
    Vector result[kInputs];
    Form::from_inputs(half + i * kInputs, result);
#pragma GCC unroll 6
    for (int j = 0; j < kInputs; ++j) {
      Operands::store(result[j], to + (i * kInputs + j) * product_stride);
    }
  }
}

template <typename Form, typename Operands>
void transform_tiles(const TileConvolution& c) {
  using Element = typename Operands::Element;
  constexpr int kProducts = Form::kInputs * Form::kInputs;
  const int depth = c.product.depth, whole = depth / kLanes * kLanes;
  for (int number = c.first; number < c.last; ++number) {
    const Element* rows[kProducts];
    rows_of_tile<Form::kInputs>(c, c.tile(number), rows);
    Element* to = static_cast<Element*>(c.transformed) + number * c.tile_stride;
    for (int k = 0; k < whole; k += kLanes) {
      transform_vectors<Form, Operands>(rows, k, to + k, c.product_stride);
    }
    if (whole == depth) continue;
    Element rest[kProducts][kLanes] = {};
    const Element* rests[kProducts];
    for (int i = 0; i < kProducts; ++i) {
      std::memcpy(rest[i], rows[i] + whole, size_t(depth - whole) * sizeof(Element));
      rests[i] = rest[i];
    }
    transform_vectors<Form, Operands>(rests, 0, to + whole, c.product_stride);
  }
}

/// One product of kRows tiles and one panel of columns.
template <int kRows, typename Operands>
HWY_NOINLINE void tile_sums(const typename Operands::Element* inputs, int64_t stride, int depth,
                            const typename Operands::Weight* weights, Ahead ahead, float* to) {
  const Floats d;
  Sums<kRows> sums;
  const typename Operands::Element* rows[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    rows[r] = inputs + r * stride;
    sums[r][0] = sums[r][1] = hn::Zero(d);
  }
  Operands::template multiply<kRows>(rows, depth, weights, ahead, sums);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(sums[r][0], d, to + r * kPanel);
    hn::StoreU(sums[r][1], d, to + r * kPanel + kLanes);
  }
}

/// All products of tiles [first, first + count) and one panel: sums[product][tile][column].
/// `next` is what will be read after the panel.
template <typename Form, typename Operands>
HWY_INLINE void multiply_tiles(const TileConvolution& c, int first, int count, int panel,
                               const void* next, float* sums) {
  constexpr int kProducts = Form::kInputs * Form::kInputs;
  const RowProduct& p = c.product;
  const int64_t size = tap_size<Operands>(p);
  const auto* transformed = static_cast<const typename Operands::Element*>(c.transformed);
  const auto* weights = static_cast<const typename Operands::Weight*>(p.weights);
  weights += panel * kProducts * size;
  for (int product = 0; product < kProducts; ++product, weights += size) {
    const auto* inputs = transformed + product * c.product_stride + first * c.tile_stride;
    const void* after = product + 1 < kProducts ? weights + size : next;
    for_each_tile(count, [&](auto height, int begin, int tile, int tiles) {
      tile_sums<decltype(height)::value, Operands>(
          inputs + begin * c.tile_stride, c.tile_stride, p.depth, weights,
          part_ahead(after, size * int64_t(sizeof *weights), tile, tiles),
          sums + (int64_t(product) * Form::kTogether + begin) * kPanel);
    });
  }
}

/// The sums of a tile become outputs[output][column], without what its epilogue does.
template <typename Form>
HWY_INLINE void outputs_of_tile(const float* sums, const float* bias, float* outputs) {
  constexpr int kInputs = Form::kInputs, kSide = Form::kSide;
  constexpr int64_t kStride = int64_t(Form::kTogether) * kPanel;
  const Floats d;
  for (int column = 0; column < kPanel; column += kLanes) {
    Vector half[kSide * kInputs];
#pragma GCC unroll 6
    for (int j = 0; j < kInputs; ++j) {
      Vector line[kInputs], result[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kInputs; ++i) {
        line[i] = hn::LoadU(d, sums + (i * kInputs + j) * kStride + column);
      }
      Form::to_outputs(line, result);
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) half[i * kInputs + j] = result[i];
    }
    const Vector shift = hn::LoadU(d, bias + column);
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      Vector result[kSide];
      Form::to_outputs(half + i * kInputs, result);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) {
        hn::StoreU(hn::Add(result[j], shift), d, outputs + (i * kSide + j) * kPanel + column);
      }
    }
  }
}

template <typename Form, typename Out, EpilogueKind kKind>
void finish_tiles(const TileConvolution& c, int first, int count, int panel, const float* sums) {
  const Floats d;
  const RowProduct& p = c.product;
  const bool whole = p.columns - panel * kPanel >= kPanel;
  alignas(64) float outputs[Form::kSide * Form::kSide * kPanel];
  for (int t = 0; t < count; ++t, sums += kPanel) {
    outputs_of_tile<Form>(sums, p.bias + panel * kPanel, outputs);
    TileOutput wanted[16];
    const int number = wanted_outputs(c, c.tile(first + t), wanted);
    for (int i = 0; i < number; ++i) {
      const float* from = outputs + wanted[i].number * kPanel;
      if (HWY_LIKELY(whole)) {
        finish_whole<kKind, Out>(p, wanted[i].row, panel, hn::LoadU(d, from),
                                 hn::LoadU(d, from + kLanes));
      } else {
        finish_part<kKind, Out>(p, wanted[i].row, 1, panel * kPanel, from);
      }
    }
  }
}

template <typename Form, typename Operands, typename Out>
void product_of_tiles(const TileConvolution& c) {
  constexpr int kProducts = Form::kInputs * Form::kInputs;
  alignas(64) float sums[kProducts * Form::kTogether * kPanel];
  const RowProduct& p = c.product;
  const int64_t panel_size = kProducts * tap_size<Operands>(p);
  const auto* weights = static_cast<const typename Operands::Weight*>(p.weights);
  const int tiles = c.last - c.first;
  const int parts = (tiles + Form::kTogether - 1) / Form::kTogether;
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_size : p.next_weights;
    for (int part = 0; part < parts; ++part) {
      const int first = c.first + int(int64_t(tiles) * part / parts);
      const int count = c.first + int(int64_t(tiles) * (part + 1) / parts) - first;
      multiply_tiles<Form, Operands>(c, first, count, panel, part + 1 < parts ? nullptr : next,
                                     sums);
      with_epilogue<Out>(p.epilogue, [&](auto constant) {
        finish_tiles<Form, Out, decltype(constant)::value>(c, first, count, panel, sums);
      });
    }
  }
}

/// Calls work with the form of a tile, of those that the operands are exact enough for.
template <typename Operands, typename Work>
HWY_INLINE void with_form(int side, const Work& work) {
  if constexpr (Operands::kLargestTile >= TilesOfFour::kSide) {
    if (side == TilesOfFour::kSide) return work(TilesOfFour());
  }
  work(TilesOfTwo());
}

template <typename Operands>
void transform_tiles_of(const TileConvolution& c) {
  with_form<Operands>(c.grid.side,
                      [&](auto form) { transform_tiles<decltype(form), Operands>(c); });
}

template <typename Operands, typename Out>
void product_of_tiles_of(const TileConvolution& c) {
  with_form<Operands>(c.grid.side,
                      [&](auto form) { product_of_tiles<decltype(form), Operands, Out>(c); });
}

template <typename Operands>
TypedFunctions functions_with_tiles() {
  TypedFunctions functions = typed_functions<Operands>();
  functions.tiles = {transform_tiles_of<Operands>,
                     product_of_tiles_of<Operands, typename Operands::Output>,
                     product_of_tiles_of<Operands, FloatVectors>, kLanes};
  return functions;
}
