#include "engine/rows.h"

#include <algorithm>
#include <numeric>

namespace sact::engine {

namespace {

/// Windows whose first pixel lies `top` lines above and `left` columns before that of their place;
/// row_at(image, y, x) is the row of a pixel.
template <typename RowAt>
RowList window_rows(const Grid& to, int stride, int top, int left, const RowAt& row_at) {
  RowList rows;
  rows.reserve(size_t(to.rows()) * 9);
  for (int image = 0; image < to.images; ++image) {
    for (int y = 0; y < to.size.height; ++y) {
      for (int x = 0; x < to.size.width; ++x) {
        for (int tap = 0; tap < 9; ++tap) {
          rows.push_back(row_at(image, y * stride + tap / 3 - top, x * stride + tap % 3 - left));
        }
      }
    }
  }
  return rows;
}

/// The same in a grid with one row of zeros for all that is outside.
RowList window_rows(const Grid& from, const Grid& to, int stride, int top, int left) {
  return window_rows(to, stride, top, left, [&](int image, int y, int x) {
    const bool inside = y >= 0 && y < from.size.height && x >= 0 && x < from.size.width;
    return inside ? int32_t(image * from.positions() + y * from.size.width + x) : from.zero_row();
  });
}

}  // namespace

RowList BorderedRows::all() const {
  RowList rows;
  rows.reserve(size_t(grid.rows()));
  for (int image = 0; image < grid.images; ++image) {
    for (int y = 0; y < grid.size.height; ++y) {
      for (int x = 0; x < grid.size.width; ++x) rows.push_back(row(image, y, x));
    }
  }
  return rows;
}

RowList BorderedRows::border() const {
  std::vector<uint8_t> taken(static_cast<size_t>(rows()));
  for (const int32_t row : all()) taken[size_t(row)] = 1;
  RowList free;
  for (int32_t row = 0; row < rows(); ++row) {
    if (!taken[size_t(row)]) free.push_back(row);
  }
  return free;
}

RowList neighbour_rows(const Grid& from, const Grid& to, int stride) {
  return window_rows(from, to, stride, 1, 1);
}

RowList neighbour_rows(const BorderedRows& from, const Grid& to, int stride) {
  return window_rows(to, stride, 1, 1,
                     [&](int image, int y, int x) { return from.row(image, y, x); });
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
  if (reached_.size() < size_t(rows)) reached_.resize(size_t(rows));
}

void ActiveRows::start(const Grid& grid) {
  grid_ = grid;
  active_.resize(size_t(grid.rows()));
  std::iota(active_.begin(), active_.end(), 0);
  dilated_ = active_;
  rim_.clear();
  std::fill_n(kept_.begin(), grid.rows(), uint8_t{1});
  std::fill_n(reached_.begin(), grid.rows(), uint8_t{1});
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
    uint8_t* reached = reached_.data() + int64_t(line) * width;
    for (int x = 0; x < width; ++x) reached[x] = above[x] | centre[x] | below[x];
    for (int x = 0; x < width; ++x) {
      if (!reached[x]) continue;
      const int32_t row = int32_t(line * width + x);
      dilated_.push_back(row);
      if (!kept_[size_t(row)]) rim_.push_back(row);
    }
  }
}

}  // namespace sact::engine
