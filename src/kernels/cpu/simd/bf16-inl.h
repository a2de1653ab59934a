// Operands of bfloat16 on vectors. Included once for every target, in its namespace.

/// As floats, which have the same upper half.
HWY_INLINE Vector widened(const uint16_t* from) {
  const Words words;
  const hn::Rebind<uint16_t, Words> half;
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(words, hn::LoadU(half, from))));
}

/// Stored by what every processor can do.
struct RoundedBFloat16 : BFloat16 {
  static HWY_INLINE void store(Vector value, uint16_t* to) {
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
  }
};

/// Two neighbouring numbers of a row; `whole` is false where the second is beyond its end.
HWY_INLINE uint32_t pair_at(const uint16_t* row, int k, bool whole) {
  if (!whole) return row[k];
  uint32_t pair;
  std::memcpy(&pair, row + k, sizeof pair);
  return pair;
}

/// Calls step(k, whole) for every pair of `depth` elements.
template <typename Step>
HWY_INLINE void for_each_pair(int depth, Ahead& ahead, const Step& step) {
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
