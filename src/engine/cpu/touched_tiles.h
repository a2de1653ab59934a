// Which tiles of a grid have any of the positions that a layer is evaluated on.
#pragma once

#include <cstdint>

#include "engine/rows.h"
#include "kernels/cpu/winograd.h"

namespace sact::engine {

/// All of them, in order.
void all_tiles(const kernels::TileGrid& grid, RowList& tiles);

/// Those with a position where `mask` is 1; others have 0.
void touched_tiles(const kernels::TileGrid& grid, const uint8_t* mask, RowList& tiles);

}  // namespace sact::engine
