// Norms of rows, which give operands of products. Included once for every target, in its namespace.

/// Numbers become operands as they are.
template <typename Out>
void convert(const RowNorm& n) {
  const Floats d;
  const int whole = n.channels / kLanes * kLanes;
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    auto* output = static_cast<typename Out::Element*>(n.output) + i * n.output_stride;
    for (int c = 0; c < whole; c += kLanes) Out::store(hn::LoadU(d, input + c), output + c);
    for (int c = whole; c < n.channels; ++c) output[c] = Out::element(input[c]);
  }
}

template <typename Out>
void norm(const RowNorm& n) {
  if (!n.scale) return convert<Out>(n);
  const Floats d;
  const Vector zero = hn::Zero(d);
  const int whole = n.channels / kLanes * kLanes;
  for (int i = 0; i < n.count; ++i) {
    const float* input = n.input + (n.rows ? n.rows[i] : i) * n.input_stride;
    auto* output = static_cast<typename Out::Element*>(n.output) + i * n.output_stride;
    auto value_at = [&](int c) SACT_INLINE_LAMBDA {
      return at_least(zero, hn::MulAdd(hn::LoadU(d, n.scale + c), hn::LoadU(d, input + c),
                                       hn::LoadU(d, n.shift + c)));
    };
    for (int c = 0; c < whole; c += kLanes) Out::store(value_at(c), output + c);
    for (int c = whole; c < n.channels; ++c) {
      output[c] = Out::element(std::max(std::fma(n.scale[c], input[c], n.shift[c]), 0.0f));
    }
  }
}
