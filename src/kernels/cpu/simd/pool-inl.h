// Pooling: sums and maxima of rows. Included once for every target, in its namespace.

void sum(const RowSum& s) {
  const Floats d;
  auto input = [&](int i) SACT_INLINE_LAMBDA {
    return s.input + (s.rows ? s.rows[i] : i) * s.input_stride;
  };
  int c = 0;
  for (; c + 4 * kLanes <= s.channels; c += 4 * kLanes) {
    float* to = s.sums + c;
    Vector sum0 = hn::LoadU(d, to), sum1 = hn::LoadU(d, to + kLanes);
    Vector sum2 = hn::LoadU(d, to + 2 * kLanes), sum3 = hn::LoadU(d, to + 3 * kLanes);
    for (int i = 0; i < s.count; ++i) {
      const float* from = input(i) + c;
      sum0 = hn::Add(sum0, hn::LoadU(d, from));
      sum1 = hn::Add(sum1, hn::LoadU(d, from + kLanes));
      sum2 = hn::Add(sum2, hn::LoadU(d, from + 2 * kLanes));
      sum3 = hn::Add(sum3, hn::LoadU(d, from + 3 * kLanes));
    }
    hn::StoreU(sum0, d, to);
    hn::StoreU(sum1, d, to + kLanes);
    hn::StoreU(sum2, d, to + 2 * kLanes);
    hn::StoreU(sum3, d, to + 3 * kLanes);
  }
  for (; c < s.channels; ++c) {
    for (int i = 0; i < s.count; ++i) s.sums[c] += input(i)[c];
  }
}

void maximum(const RowMaximum& m) {
  const Floats d;
  for (int i = 0; i < m.count; ++i) {
    const float* rows[9];
    int count = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int32_t row = m.rows[i * 9 + tap];
      if (row != m.zero_row) rows[count++] = m.input + row * m.input_stride;
    }
    float* output = m.output + i * m.output_stride;
    if (count == 0) {
      std::fill_n(output, m.channels, -std::numeric_limits<float>::infinity());
      continue;
    }
    int c = 0;
    for (; c + kLanes <= m.channels; c += kLanes) {
      Vector largest = hn::LoadU(d, rows[0] + c);
      for (int k = 1; k < count; ++k) {
        const Vector larger = at_least(largest, hn::LoadU(d, rows[k] + c));
        largest = hn::IfThenElse(hn::IsNaN(largest), largest, larger);
      }
      hn::StoreU(largest, d, output + c);
    }
    for (; c < m.channels; ++c) {
      output[c] = rows[0][c];
      for (int k = 1; k < count; ++k) output[c] = larger_or_nan(output[c], rows[k][c]);
    }
  }
}
