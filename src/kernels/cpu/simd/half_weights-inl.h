// Weights of 16 bits in products of 32. Included once for every target, in its namespace.

/// Weights that are widened as they are used, and left in memory as floats for the tiles after.
template <typename Half>
struct Widening {
  const uint16_t* from;
  Vector scale0, scale1;
  float* to;
};

template <typename Half>
HWY_INLINE void next_weights(Widening<Half>& weights, Vector& w0, Vector& w1) {
  const Floats d;
  const hn::Rebind<uint16_t, Floats> bits;
  const hn::Rebind<Half, Floats> half;
  const auto widened = [&](const uint16_t* from) SACT_INLINE_LAMBDA {
    return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(bits, from)));
  };
  w0 = hn::Mul(widened(weights.from), weights.scale0);
  w1 = hn::Mul(widened(weights.from + kLanes), weights.scale1);
  hn::StoreU(w0, d, weights.to);
  hn::StoreU(w1, d, weights.to + kLanes);
  weights.from += kPanel;
  weights.to += kPanel;
}

/// The same as PlainWeights: the first tile widens weights in registers. They are then what 32 bits
/// would have held, and so are all sums.
template <typename Half>
struct HalfWeights {
  using Weight = uint16_t;
  // Of many tiles still one alone reads the weights, between other work: they shall wait for it.
  static constexpr AheadLimits kAhead = {kPanel * 8, 24};

  explicit HalfWeights(const RowProduct& p)
      : scales(p.scales), panel(thread_panel(int64_t(p.taps) * p.depth * kPanel)) {}

  template <typename Work>
  HWY_INLINE void with(const uint16_t* from, int column, int tile, const Work& work) const {
    if (tile > 0) return work(static_cast<const float*>(panel));
    const Floats d;
    const float* scale = scales + column;
    work(Widening<Half>{from, hn::LoadU(d, scale), hn::LoadU(d, scale + kLanes), panel});
  }

  const float* scales;
  float* panel;
};
