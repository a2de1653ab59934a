// Pairs of bfloat16 operands. Included once for every target, in its namespace.

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
