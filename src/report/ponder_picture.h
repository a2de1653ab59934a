// The picture that explains one prediction: where in the photograph the network computed how much.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"
#include "sact/types.h"

namespace sact::report {

struct BlockMap {
  Map ponder_cost;
  int units = 0;
};

/// Every map covers the whole photograph.
struct PonderPicture {
  io::RgbImage photo;
  Map total;  // the ponder cost summed over the blocks
  std::vector<BlockMap> blocks;
  std::string title;
  std::string subtitle;
};

/// Draws the title, the photograph beside its ponder cost map, and the maps of the blocks, each map
/// with the scale of its own range. Values that are not finite are left out of ranges and means and
/// drawn grey.
io::RgbImage draw_ponder_picture(const PonderPicture& picture);

}  // namespace sact::report
