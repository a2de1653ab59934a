// Tensors in another order than they are stored in.
#pragma once

#include <span>
#include <vector>

#include "io/safetensors.h"

namespace sact::importing {

/// The elements, of `width` bytes, of a tensor whose neighbours in dimension i are strides[i]
/// elements apart, one after another. The caller has made sure that all of them lie in `bytes`.
std::vector<std::byte> gathered(std::span<const std::byte> bytes, size_t width,
                                const io::Shape& shape, const std::vector<int64_t>& strides,
                                int64_t offset = 0);

/// The tensor whose dimension i is dimension order[i] of `view`; its bytes are put into `memory`.
io::TensorView permuted(const io::TensorView& view, const std::vector<int>& order,
                        std::vector<std::byte>& memory);

}  // namespace sact::importing
