// What becomes of the finished sums of a product. Included once for every target, in its namespace.

/// The form of an epilogue, which is known when its loop is compiled.
struct EpilogueKind {
  bool relu = false;
  bool add = false;    // to what the output holds
  bool mean = false;   // besides, to the mean of a block's states
  bool first = false;  // the mean begins with the state before
  bool store = true;   // false: only the mean is wanted
  bool whole = false;  // which is the state after
};

/// That of a row whose remainder is 1: the mean is the state.
constexpr EpilogueKind unscored(EpilogueKind kind) {
  return {kind.relu, true, !kind.store, true, kind.store, true};
}

template <EpilogueKind kKind>
inline constexpr std::integral_constant<EpilogueKind, kKind> kConstant;

template <bool kRelu, typename Work>
HWY_INLINE void with_residual(const Epilogue& e, const Work& work) {
  if (!e.mean) return work(kConstant<EpilogueKind{kRelu, true}>);
  if (e.mean_only) {
    return e.first_residual ? work(kConstant<EpilogueKind{kRelu, true, true, true, false}>)
                            : work(kConstant<EpilogueKind{kRelu, true, true, false, false}>);
  }
  e.first_residual ? work(kConstant<EpilogueKind{kRelu, true, true, true}>)
                   : work(kConstant<EpilogueKind{kRelu, true, true}>);
}

/// Calls work with the kind of an epilogue as a constant. Residuals have 32 bits.
template <typename Out, typename Work>
HWY_INLINE void with_epilogue(const Epilogue& e, const Work& work) {
  if constexpr (std::is_same_v<typename Out::Element, float>) {
    if (e.add) return e.relu ? with_residual<true>(e, work) : with_residual<false>(e, work);
  }
  e.relu ? work(kConstant<EpilogueKind{true}>) : work(kConstant<EpilogueKind{}>);
}

/// Where an output is, from a column on.
template <typename Element>
struct Place {
  Element* output;
  float* mean;
  float remainder;

  HWY_INLINE Place(const RowProduct& p, int i, int column) {
    const int64_t row = p.output_rows ? p.output_rows[i] : i;
    const int64_t offset = row * p.output_stride + column;
    output = static_cast<Element*>(p.output) + offset;
    mean = p.epilogue.mean ? p.epilogue.mean + offset : nullptr;
    remainder = mean ? p.epilogue.remainders[row] : 0.0f;
  }
};

/// One vector of finished sums goes where it belongs, `column` elements from there.
template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_vector(Vector sum, Vector remainder, typename Out::Element* output,
                              float* mean, int column) {
  const Floats d;
  const Vector zero = hn::Zero(d);
  output += column;
  if constexpr (!kKind.add) {
    Out::store(kKind.relu ? at_least(zero, sum) : sum, output);
  } else {
    Vector before = zero;
    if constexpr (kKind.relu || kKind.store || kKind.first) before = hn::LoadU(d, output);
    const Vector after = kKind.relu ? at_least(zero, hn::Add(before, sum)) : hn::Add(before, sum);
    if constexpr (kKind.mean) {
      mean += column;  // null for other kinds
      if constexpr (kKind.whole) {
        hn::StoreU(after, d, mean);
      } else {
        const Vector change = kKind.relu ? hn::Sub(after, before) : sum;
        const Vector start = kKind.first ? before : hn::LoadU(d, mean);
        hn::StoreU(hn::MulAdd(remainder, change, start), d, mean);
      }
    }
    if constexpr (kKind.store) hn::StoreU(after, d, output);
  }
}

/// Both vectors of a panel.
template <EpilogueKind kKind, typename Out>
HWY_INLINE void finish_whole(const RowProduct& p, int i, int panel, Vector sum0, Vector sum1) {
  const Place<typename Out::Element> place(p, i, panel * kPanel);
  const Vector remainder = hn::Set(Floats(), place.remainder);
  if constexpr (kKind.mean && !kKind.whole) {
    if (place.remainder == 1) {
      return finish_whole<unscored(kKind), Out>(p, i, panel, sum0, sum1);
    }
  }
  finish_vector<kKind, Out>(sum0, remainder, place.output, place.mean, 0);
  finish_vector<kKind, Out>(sum1, remainder, place.output, place.mean, kLanes);
}

/// Of the last panel, from `column` on, only the columns that there are; `sums` has kWidth for each
/// row.
template <EpilogueKind kKind, typename Out, int kWidth = kPanel>
HWY_NOINLINE void finish_part(const RowProduct& p, int first, int rows, int column,
                              const float* sums) {
  const Floats d;
  const size_t columns = size_t(p.columns - column);
  for (int r = 0; r < rows; ++r, sums += kWidth) {
    const Place<typename Out::Element> place(p, first + r, column);
    const Vector remainder = hn::Set(d, place.remainder);
    typename Out::Element output[kWidth] = {};
    float mean[kWidth] = {};
    std::memcpy(output, place.output, columns * sizeof output[0]);
    if (place.mean) std::memcpy(mean, place.mean, columns * sizeof(float));
    const auto finish = [&](auto kind) {
      for (int c = 0; c < kWidth; c += kLanes) {
        finish_vector<decltype(kind)::value, Out>(hn::LoadU(d, sums + c), remainder, output, mean,
                                                  c);
      }
    };
    if constexpr (kKind.mean) {
      place.remainder == 1 ? finish(kConstant<unscored(kKind)>) : finish(kConstant<kKind>);
    } else {
      finish(kConstant<kKind>);
    }
    std::memcpy(place.output, output, columns * sizeof output[0]);
    if (place.mean) std::memcpy(place.mean, mean, columns * sizeof(float));
  }
}
