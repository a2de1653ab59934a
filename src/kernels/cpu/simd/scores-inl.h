// Halting scores of rows. Included once for every target, in its namespace.

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
