// What is the same for all runs on batches of one size: resolutions and lists of rows.
#pragma once

#include <optional>
#include <vector>

#include "engine/rows.h"
#include "model/architecture.h"

namespace sact::engine {

/// Images as the stem reads them: [H, W, 3] with a border of zeros.
struct PaddedImages {
  int images = 0, border = 0;
  Size size;  // without the border

  int width() const { return size.width + 2 * border; }
  int64_t pixels() const { return int64_t(size.height + 2 * border) * width(); }
  /// Where the pixel (y, x) of an image lies; negative coordinates are in the border.
  int64_t offset(int image, int y, int x) const {
    return (image * pixels() + int64_t(y + border) * width() + x + border) * 3;
  }
  int64_t elements() const { return images * pixels() * 3; }
};

/// Those of a batch; empty without a stem.
PaddedImages padded_images(const std::optional<StemSteps>& stem, int images, Size image);

/// How the rows between two convolutions of a unit lie in memory: one after the other with a row of
/// zeros at the end, or with rows of zeros around each image.
enum class HiddenRows { kPlain, kBordered };

struct Geometry {
  Geometry() = default;
  /// sact::Error when the batch is too large to be numbered in 32 bits.
  Geometry(const ModelSpec& spec, int images, Size image,
           HiddenRows hidden_rows = HiddenRows::kPlain);

  Size image;
  int images = 0;
  Grid first;          // what enters block 1
  PaddedImages input;  // empty without a stem, as are the following
  Grid stem;           // after the stem convolution
  RowList stem_taps;   // [rows, taps]: where a line of the stem's window begins in the input
  RowList pool_rows;   // [rows, 9]; empty without pooling

  /// Hidden rows of one grid.
  struct Hidden {
    RowList rows;        // where each position is; empty: plain, position i is row i
    RowList border;      // rows of zeros
    RowList neighbours;  // 3x3 rows of the convolution that reads them; empty where plain
  };

  struct Block {
    Grid before, grid;             // what enters its first unit, and all units after
    RowList neighbours;            // stride 1, inside the block
    RowList entry;                 // 3x3 rows of the first unit
    RowList entry_centres;         // 1x1 rows of its shortcut
    Hidden hidden, hidden_before;  // inside the block, and of the grid before
  };
  std::vector<Block> blocks;

  /// The bytes of the lists that a Geometry would have.
  static int64_t list_bytes(const ModelSpec& spec, int images, Size image,
                            HiddenRows hidden_rows = HiddenRows::kPlain);

 private:
  void add_stem(const StemSteps& steps);
};

}  // namespace sact::engine
