// Products of whole numbers of 8 bits over lists of rows on vectors. Included once for every
// target, in its namespace, after typed-inl.h. Sums are whole numbers, so that their order does not
// matter; the scale of a column and its bias come in at the end. `Operands` has
//
//   static constexpr bool kNative;
//   static constexpr int kTallest;                        // rows of a tile
//   struct Weights { explicit Weights(IntegerVector); };  // fours of depths of kLanes columns
//   struct Fours { explicit Fours(uint32_t); };           // four depths of a row
//   static IntegerVector dot(IntegerVector sums, const Fours&, const Weights&);
//
// where dot() adds the products of both, four to each lane.

using Integers = hn::ScalableTag<int32_t>;
using IntegerVector = hn::Vec<Integers>;

/// Rows of whole numbers; see Int8::element().
struct RoundedBytes : Int8 {
  static HWY_INLINE void store(Vector value, uint8_t* to) {
    const Floats d;
    const hn::Rebind<uint8_t, Floats> bytes;
    // In this order what is not a number becomes 0.
    const Vector clamped = hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, kLargest));
    hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(clamped)), bytes, to);
  }
};

template <int kRows>
using IntegerSums = IntegerVector[kRows][2];

HWY_INLINE uint32_t fours_at(const uint8_t* row, int count) {
  uint32_t fours = 0;
  if (count == 4) {
    std::memcpy(&fours, row, sizeof fours);
    return fours;
  }
  // Byte by byte: a call of memcpy() with a size that nobody knows before would make the sums leave
  // the registers around it.
  for (int i = 0; i < count; ++i) fours |= uint32_t(row[i]) << (8 * i);
  return fours;
}

/// Adds rows times weights to sums, `depth` elements long; weights moves on.
template <typename Operands, int kRows>
HWY_INLINE void multiply_fours(const uint8_t* const (&rows)[kRows], int depth,
                               const int8_t*& weights, Ahead& ahead, IntegerSums<kRows>& sums) {
  using Weights = typename Operands::Weights;
  using Fours = typename Operands::Fours;
  const Integers d;
  auto step = [&](int k, int count) SACT_INLINE_LAMBDA {
    const auto* from = reinterpret_cast<const int32_t*>(weights);
    const Weights w0(hn::LoadU(d, from)), w1(hn::LoadU(d, from + kLanes));
    weights += 4 * kPanel;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Fours x(fours_at(rows[r] + k, count));
      sums[r][0] = Operands::dot(sums[r][0], x, w0);
      sums[r][1] = Operands::dot(sums[r][1], x, w1);
    }
  };
  int k = 0;
  for (; k + 16 <= depth; k += 16) {
    ahead.step();
    step(k, 4);
    step(k + 4, 4);
    step(k + 8, 4);
    step(k + 12, 4);
  }
  for (; k + 4 <= depth; k += 4) step(k, 4);
  if (k < depth) step(k, depth - k);
}

/// kRows rows from `first` on times one panel of columns.
template <int kRows, typename Operands, typename Out>
HWY_NOINLINE void integer_tile(const RowProduct& p, int first, int panel, Ahead ahead) {
  const Floats d;
  const auto* weights = static_cast<const int8_t*>(p.weights);
  weights += panel * p.taps * tap_size<Int8>(p);
  const float *bias = p.bias + panel * kPanel, *scales = p.scales + panel * kPanel;
  if (p.epilogue.add) ask_for_outputs<kRows>(p, first, panel);
  IntegerSums<kRows> sums;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = hn::Zero(Integers());
  for (int tap = 0; tap < p.taps; ++tap) {
    const uint8_t* rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = row_pointer<Int8>(p, first + r, tap);
    multiply_fours<Operands, kRows>(rows, p.depth, weights, ahead, sums);
  }
  auto finished = [&](int r, int vector) SACT_INLINE_LAMBDA {
    return hn::MulAdd(hn::ConvertTo(d, sums[r][vector]), hn::LoadU(d, scales + vector * kLanes),
                      hn::LoadU(d, bias + vector * kLanes));
  };
  if (HWY_LIKELY(p.columns - panel * kPanel >= kPanel)) {
    with_epilogue<Out>(p.epilogue, [&](auto constant) SACT_INLINE_LAMBDA {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        finish_whole<decltype(constant)::value, Out>(p, first + r, panel, finished(r, 0),
                                                     finished(r, 1));
      }
    });
  } else {
    alignas(64) float buffer[kRows * kPanel];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(finished(r, 0), d, buffer + r * kPanel);
      hn::StoreU(finished(r, 1), d, buffer + r * kPanel + kLanes);
    }
    with_epilogue<Out>(p.epilogue, [&](auto constant) {
      finish_part<decltype(constant)::value, Out>(p, first, kRows, panel * kPanel, buffer);
    });
  }
}

template <typename Operands, typename Out>
void integer_product(const RowProduct& p) {
  if (p.rows <= 0) return;
  const auto* weights = static_cast<const int8_t*>(p.weights);
  const int64_t panel_size = p.taps * tap_size<Int8>(p);
  for (int panel = p.first_panel; panel < p.last_panel; ++panel) {
    const bool more = panel + 1 < p.last_panel;
    const void* next = more ? weights + (panel + 1) * panel_size : p.next_weights;
    for_each_tile<Operands::kTallest>(p.rows, [&](auto height, int first, int tile, int tiles) {
      integer_tile<decltype(height)::value, Operands, Out>(
          p, first, panel, part_ahead(next, panel_size, tile, tiles));
    });
  }
}

template <typename Operands>
int64_t integer_multiply_adds(int64_t steps) {
  const Integers d;
  volatile int32_t number = 0x01010101;
  const typename Operands::Weights weights(hn::Set(d, number));
  const typename Operands::Fours fours{uint32_t(number)};
  IntegerVector sums[kPeakSums];
#pragma GCC unroll 12
  for (int i = 0; i < kPeakSums; ++i) sums[i] = hn::Set(d, number);  // equal ones would become one
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakSums; ++i) sums[i] = Operands::dot(sums[i], fours, weights);
  }
  for (const IntegerVector& sum : sums) number = hn::GetLane(hn::SumOfLanes(d, sum));
  return steps * kPeakSums * kLanes * 8;  // four products and sums
}

template <typename Operands, typename Out>
TypedFunctions integer_functions() {
  return {.type = DataType::kInt8,
          .native = Operands::kNative,
          .panel_columns = kPanel,
          .tile_rows = Operands::kTallest,
          .product = integer_product<Operands, Out>,
          .product_to_f32 = integer_product<Operands, FloatVectors>,
          .norm = norm<Out>,
          .multiply_adds = integer_multiply_adds<Operands>};
}
