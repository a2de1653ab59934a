// Rows: which positions a batch has at one resolution, who their neighbours are, and which of them
// are active.
#pragma once

#include <cstdint>
#include <vector>

#include "base/size.h"

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
};

/// For every position of `to` the nine rows of `from` that a 3x3 convolution of this stride reads.
RowList neighbour_rows(const Grid& from, const Grid& to, int stride);

/// For every position of `to` the row of `from` at its centre.
RowList strided_rows(const Grid& from, const Grid& to, int stride);

/// Rows in the 3x3 dilation of `active`, in ascending order. `neighbours` is that of stride 1 and
/// `marks` scratch of one entry for each row and the zero row, all zero before and after.
void dilate(const RowList& active, const RowList& neighbours, std::vector<uint8_t>& marks,
            RowList& dilated);

}  // namespace sact::engine
