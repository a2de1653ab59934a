// Small maps and fixations for the tests of the metrics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "saliency/fixations.h"

namespace sact::saliency {

inline Map row_map(const std::vector<float>& values) {
  Map map(1, int(values.size()));
  map.values = values;
  return map;
}

inline Fixations fixations_at(const Map& map, std::vector<uint32_t> pixels) {
  return {{map.height, map.width}, std::move(pixels)};
}

/// Values 0 ... `levels` - 1, so that few levels give many ties.
inline Map random_map(int height, int width, int64_t levels, uint64_t seed) {
  Random random(seed);
  Map map(height, width);
  for (float& value : map.values) value = float(random.below(levels));
  return map;
}

inline Fixations random_fixations(const Map& map, size_t count, uint64_t seed) {
  Random random(seed + 1000);
  std::vector<uint32_t> pixels;
  while (pixels.size() < count) {
    const auto pixel = uint32_t(random.below(int64_t(map.values.size())));
    if (std::find(pixels.begin(), pixels.end(), pixel) == pixels.end()) pixels.push_back(pixel);
  }
  std::sort(pixels.begin(), pixels.end());
  return fixations_at(map, pixels);
}

/// Numbers in [0, 1).
inline Map uniform_map(int height, int width, uint64_t seed) {
  Random random(seed);
  Map map(height, width);
  for (float& value : map.values) value = float(random.uniform());
  return map;
}

}  // namespace sact::saliency
