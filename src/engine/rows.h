// Rows: which positions a batch has at one resolution, who their neighbours are, and which of them
// are active.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/size.h"
#include "model/architecture.h"

namespace sact::engine {

using RowList = std::vector<int32_t>;

/// The positions of a batch of images at one resolution; those of an image lie together.
struct Grid {
  int images = 0;
  Size size;

  int positions() const { return int(size.positions()); }
  int rows() const { return images * positions(); }
  /// The row of zeros that stands for everything outside of the images.
  int32_t zero_row() const { return int32_t(rows()); }
  int image_of(int32_t row) const { return row / positions(); }
};

/// Where the positions of a grid lie in memory with rows of zeros around each image: a line before
/// and after, which images share, and one row between two lines. So each of a position's neighbours
/// lies at one distance from it, outside of the image too.
struct BorderedRows {
  Grid grid;

  int line() const { return grid.size.width + 1; }
  int rows() const { return (grid.images * (grid.size.height + 1) + 1) * line() + 1; }
  /// y and x may be one beyond the image.
  int32_t row(int image, int y, int x) const {
    return int32_t((image * (grid.size.height + 1) + y + 1) * line() + x + 1);
  }
  RowList all() const;  // of all positions
  RowList border() const;
};

/// For every position of `to` the nine rows of `from` that a 3x3 window of this stride covers.
RowList neighbour_rows(const Grid& from, const Grid& to, int stride);
RowList neighbour_rows(const BorderedRows& from, const Grid& to, int stride);

/// The same for windows of max pooling, which may begin elsewhere than a line before their centre.
RowList pooled_rows(const Grid& from, const Grid& to, const PoolStep& pool);

/// For every position of `to` the row of `from` at its centre.
RowList strided_rows(const Grid& from, const Grid& to, int stride);

/// The active set of a batch in a block, and what surrounds it. All lists are in ascending order.
class ActiveRows {
 public:
  /// Takes memory for grids of up to `rows` positions.
  void reserve(int rows);
  /// How much that is.
  static int64_t bytes(int64_t rows) { return rows * int64_t(3 * sizeof(int32_t) + 3); }

  /// Every position of the grid becomes active.
  void start(const Grid& grid);

  /// Keeps a row active, or not, after the next update(). Different rows may be set by different
  /// threads.
  void keep(int32_t row, bool active) { kept_[size_t(row)] = active; }
  void update();

  const RowList& active() const { return active_; }
  /// The 3x3 dilation of the active set: where an active position looks.
  const RowList& dilated() const { return dilated_; }
  /// The same two sets as [rows]: 1 where a row is in it, otherwise 0.
  const uint8_t* active_mask() const { return kept_.data(); }
  const uint8_t* dilated_mask() const { return reached_.data(); }
  /// What is in the dilation and not active.
  const RowList& rim() const { return rim_; }

 private:
  Grid grid_;
  RowList active_, dilated_, rim_;
  // [rows]: active; the same, dilated along lines, and dilated
  std::vector<uint8_t> kept_, widened_, reached_;
};

}  // namespace sact::engine
