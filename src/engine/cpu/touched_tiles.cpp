#include "engine/cpu/touched_tiles.h"

#include <algorithm>
#include <numeric>

namespace sact::engine {

void all_tiles(const kernels::TileGrid& grid, RowList& tiles) {
  tiles.resize(size_t(grid.count()));
  std::iota(tiles.begin(), tiles.end(), 0);
}

void touched_tiles(const kernels::TileGrid& grid, const uint8_t* mask, RowList& tiles) {
  tiles.clear();
  int32_t tile = 0;
  for (int image = 0; image < grid.images; ++image, mask += int64_t(grid.height) * grid.width) {
    for (int y = 0; y < grid.height; y += grid.side) {
      const int last_y = std::min(y + grid.side, grid.height);
      for (int x = 0; x < grid.width; x += grid.side, ++tile) {
        const int last_x = std::min(x + grid.side, grid.width);
        uint8_t any = 0;
        for (int v = y; v < last_y; ++v) {
          for (int u = x; u < last_x; ++u) any |= mask[int64_t(v) * grid.width + u];
        }
        if (any) tiles.push_back(tile);
      }
    }
  }
}

}  // namespace sact::engine
