// A two-dimensional map of numbers, such as the ponder cost of every position of a block.
#pragma once

#include <cstddef>
#include <vector>

namespace sact {

struct Map {
  int height = 0;
  int width = 0;
  std::vector<float> values;  // rows from top to bottom

  Map() = default;
  Map(int h, int w, float value = 0) : height(h), width(w), values(size_t(h) * size_t(w), value) {}
  float& at(int y, int x) { return values[size_t(y) * size_t(width) + size_t(x)]; }
  float at(int y, int x) const { return values[size_t(y) * size_t(width) + size_t(x)]; }
};

}  // namespace sact
