#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace sact {

/// Keeps `count` random items of a list, or all where there are no more, in random order.
template <typename T>
void keep_sample(std::vector<T>& list, size_t count, Random& random) {
  count = std::min(count, list.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(list[i], list[i + size_t(random.below(int64_t(list.size() - i)))]);
  }
  list.resize(count);
}

}  // namespace sact
