#include "engine/rows.h"

#include <algorithm>
#include <numeric>

namespace sact::engine {

namespace {

/// Windows whose first pixel lies `top` lines above and `left` columns before that of their place.
RowList window_rows(const Grid& from, const Grid& to, int stride, int top, int left) {
  RowList rows;
  rows.reserve(size_t(to.rows()) * 9);
  for (int image = 0; image < to.images; ++image) {
    for (int y = 0; y < to.size.height; ++y) {
      for (int x = 0; x < to.size.width; ++x) {
        for (int tap = 0; tap < 9; ++tap) {
          const int sy = y * stride + tap / 3 - top, sx = x * stride + tap % 3 - left;
          const bool inside = sy >= 0 && sy < from.size.height && sx >= 0 && sx < from.size.width;
          rows.push_back(inside ? int32_t(image * from.positions() + sy * from.size.width + sx)
                                : from.zero_row());
        }
      }
    }
  }
  return rows;
}

}  // namespace

RowList neighbour_rows(const Grid& from, const Grid& to, int stride) {
  return window_rows(from, to, stride, 1, 1);
}

RowList pooled_rows(const Grid& from, const Grid& to, const PoolStep& pool) {
  return window_rows(from, to, pool.kStride, pool.padding_before(from.size.height),
                     pool.padding_before(from.size.width));
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

void ActiveRows::reserve(int rows) {
  for (RowList* list : {&active_, &dilated_, &rim_}) list->reserve(size_t(rows));
  if (kept_.size() < size_t(rows)) kept_.resize(size_t(rows));
  if (widened_.size() < size_t(rows)) widened_.resize(size_t(rows));
}

void ActiveRows::start(const Grid& grid) {
  grid_ = grid;
  active_.resize(size_t(grid.rows()));
  std::iota(active_.begin(), active_.end(), 0);
  dilated_ = active_;
  rim_.clear();
  std::fill_n(kept_.begin(), grid.rows(), uint8_t{1});
}

void ActiveRows::update() {
  std::erase_if(active_, [&](int32_t row) { return !kept_[size_t(row)]; });
  dilated_.clear();
  rim_.clear();
  if (active_.empty()) return;
  const int height = grid_.size.height, width = grid_.size.width;
  // Along lines first, then across; the loops over a line have no branches.
  for (int line = 0; line < grid_.images * height; ++line) {
    const uint8_t* from = kept_.data() + int64_t(line) * width;
    uint8_t* to = widened_.data() + int64_t(line) * width;
    to[0] = from[0] | (width > 1 ? from[1] : 0);
    for (int x = 1; x + 1 < width; ++x) to[x] = from[x - 1] | from[x] | from[x + 1];
    if (width > 1) to[width - 1] = from[width - 2] | from[width - 1];
  }
  for (int line = 0; line < grid_.images * height; ++line) {
    const int y = line % height;
    const uint8_t* centre = widened_.data() + int64_t(line) * width;
    const uint8_t* above = y > 0 ? centre - width : centre;
    const uint8_t* below = y + 1 < height ? centre + width : centre;
    for (int x = 0; x < width; ++x) {
      if (!(above[x] | centre[x] | below[x])) continue;
      const int32_t row = int32_t(line * width + x);
      dilated_.push_back(row);
      if (!kept_[size_t(row)]) rim_.push_back(row);
    }
  }
}

}  // namespace sact::engine
