#include "engine/rows.h"

#include <algorithm>

namespace sact::engine {

RowList neighbour_rows(const Grid& from, const Grid& to, int stride) {
  RowList rows;
  rows.reserve(size_t(to.rows()) * 9);
  for (int image = 0; image < to.images; ++image) {
    for (int y = 0; y < to.size.height; ++y) {
      for (int x = 0; x < to.size.width; ++x) {
        for (int tap = 0; tap < 9; ++tap) {
          const int sy = y * stride + tap / 3 - 1, sx = x * stride + tap % 3 - 1;
          const bool inside = sy >= 0 && sy < from.size.height && sx >= 0 && sx < from.size.width;
          rows.push_back(inside ? int32_t(image * from.positions() + sy * from.size.width + sx)
                                : from.zero_row());
        }
      }
    }
  }
  return rows;
}

RowList strided_rows(const Grid& from, const Grid& to, int stride) {
  RowList rows;
  rows.reserve(size_t(to.rows()));
  for (int image = 0; image < to.images; ++image) {
    for (int y = 0; y < to.size.height; ++y) {
      for (int x = 0; x < to.size.width; ++x) {
        rows.push_back(
            int32_t(image * from.positions() + y * stride * from.size.width + x * stride));
      }
    }
  }
  return rows;
}

void dilate(const RowList& active, const RowList& neighbours, std::vector<uint8_t>& marks,
            RowList& dilated) {
  dilated.clear();
  for (int32_t row : active) {
    for (int tap = 0; tap < 9; ++tap) marks[size_t(neighbours[size_t(row) * 9 + size_t(tap)])] = 1;
  }
  marks.back() = 0;  // the zero row
  if (active.empty()) return;
  // Neighbours lie at most one line and one position away.
  for (size_t row = 0; row + 1 < marks.size(); ++row) {
    if (!marks[row]) continue;
    dilated.push_back(int32_t(row));
    marks[row] = 0;
  }
}

}  // namespace sact::engine
