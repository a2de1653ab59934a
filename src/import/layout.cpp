#include "import/layout.h"

#include <cstring>

#include "base/error.h"

namespace sact::importing {

std::vector<std::byte> gathered(std::span<const std::byte> bytes, size_t width,
                                const io::Shape& shape, const std::vector<int64_t>& strides,
                                int64_t offset) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  std::vector<std::byte> result(size_t(elements) * width);
  std::vector<int64_t> place(shape.size(), 0);
  int64_t from = offset;
  for (size_t to = 0; to < result.size(); to += width) {
    std::memcpy(result.data() + to, bytes.data() + size_t(from) * width, width);
    for (size_t i = shape.size(); i-- > 0;) {
      from += strides[i];
      if (++place[i] < shape[i]) break;
      from -= strides[i] * shape[i];
      place[i] = 0;
    }
  }
  return result;
}

io::TensorView permuted(const io::TensorView& view, const std::vector<int>& order,
                        std::vector<std::byte>& memory) {
  const size_t rank = order.size();
  SACT_ASSERT(rank > 0 && view.shape.size() == rank);
  std::vector<int64_t> stored(rank, 1);
  for (size_t i = rank - 1; i-- > 0;) stored[i] = stored[i + 1] * view.shape[i + 1];
  io::Shape shape;
  std::vector<int64_t> strides;
  for (const int dimension : order) {
    shape.push_back(view.shape[size_t(dimension)]);
    strides.push_back(stored[size_t(dimension)]);
  }
  memory = gathered(view.bytes.read(), io::dtype_size(view.dtype), shape, strides);
  return {view.dtype, shape, memory};
}

}  // namespace sact::importing
