// The rows of a product cut into tiles: up to 16 rows that are multiplied together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/calls.h"
#include "kernels/cpu/tiles/shape.h"

namespace sact::kernels {

/// Rows at equal distances, whose taps are too: tiles are read like that.
struct RowTile {
  int height = 0;
  int32_t outputs[kTileHeight];  // which output of the product each row is; -1: nobody's
  int first_source = 0;          // of one for every tap
  int64_t row_bytes = 0;         // from one row to the next
  int64_t step_bytes = 0;        // from one step of the depth to the next
};

/// Tiles are windows on the input where enough of their rows are asked for: between two that are,
/// there may be rows that nobody asked for, which are multiplied too and left out. So a border
/// around an image does not end a tile. Other rows are copied together. Elements of less than 16
/// bits are whole numbers: what lies past the end of a row may be anything, because its weights
/// are zeros.
class RowTiles {
 public:
  void cut(const RowProduct& product, int element_bytes);

  /// The tallest first.
  std::span<const RowTile> tiles() const { return tiles_; }
  /// Where the first row of a tile is read, for one tap.
  const std::byte* source(const RowTile& tile, int tap) const {
    return sources_[size_t(tile.first_source + tap)];
  }
  /// Rows that were copied.
  int copied() const { return int(loose_.size()); }

 private:
  struct alignas(kTileRowBytes) Line {
    std::byte bytes[kTileRowBytes];
  };
  struct Run;

  const std::byte* address(const RowProduct& product, int64_t row) const {
    return static_cast<const std::byte*>(product.input) + row * product.input_stride * bytes_;
  }
  bool must_copy(const RowProduct& product) const;
  Run run_from(const RowProduct& product, int first) const;
  void cut_run(const RowProduct& product, const Run& run);
  void copy_loose(const RowProduct& product);
  void copy_tile(const RowProduct& product, std::span<const int32_t> rows, Line* lines);

  int bytes_ = 2;  // of an element
  std::vector<RowTile> tiles_;
  std::vector<const std::byte*> sources_;
  std::vector<int32_t> loose_;  // outputs whose rows are to be copied
  std::vector<Line> lines_;     // what was copied
};

/// That of the calling thread, whose memory is kept.
RowTiles& thread_row_tiles();

}  // namespace sact::kernels
