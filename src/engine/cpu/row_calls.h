// Small helpers for calls of kernels.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/cpu/kernels.h"

namespace sact::engine {

/// Elements from one row to the next. Rows whose beginnings share an address modulo 4096 would all
/// compete for the same few places of the first cache: such rows get a line more.
inline int64_t row_stride(int channels, int element_size) {
  constexpr int kLine = 64, kConflict = 1024;
  const bool conflict = int64_t(channels) * element_size % kConflict == 0;
  return channels + (conflict ? kLine / element_size : 0);
}

inline void* offset(void* data, int64_t elements, int element_size) {
  return static_cast<std::byte*>(data) + elements * element_size;
}
inline const void* offset(const void* data, int64_t elements, int element_size) {
  return static_cast<const std::byte*>(data) + elements * element_size;
}

/// A row of zeros, for what lies outside of the images.
inline void clear_row(void* rows, int64_t row, int64_t stride, int element_size) {
  std::memset(offset(rows, row * stride, element_size), 0, size_t(stride) * size_t(element_size));
}

/// The part of a product that computes rows [first, last).
inline kernels::RowProduct rows_of(kernels::RowProduct call, int first, int last, int input_size,
                                   int output_size) {
  call.rows = last - first;
  if (call.list) {
    call.list += first;
  } else if (call.input_rows) {
    call.input_rows += int64_t(first) * call.taps;
  } else if (call.input) {  // otherwise it is set later
    call.input = offset(call.input, first * call.input_stride, input_size);
  }
  if (call.output_rows) {
    call.output_rows += first;
  } else {
    call.output = offset(call.output, first * call.output_stride, output_size);
    if (call.epilogue.mean) call.epilogue.mean += first * call.output_stride;
    if (call.epilogue.remainders) call.epilogue.remainders += first;
  }
  return call;
}

}  // namespace sact::engine
