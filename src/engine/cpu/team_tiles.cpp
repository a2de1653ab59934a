// How threads share a convolution over tiles.
#include <algorithm>

#include "base/error.h"
#include "engine/cpu/layer_team.h"

namespace sact::engine {
namespace {

// Tiles of which a thread has its own where all have so many; otherwise threads share the columns,
// so that each reads its part of the weights only.
constexpr int kLeastTiles = 48;
// Bytes between two products, so that they do not begin at the same places of the cache.
constexpr int kGap = 64;

kernels::TapChoice taps_over(int side) {
  const auto order = side == 2 ? kernels::TapOrder::kTilesOfTwo : kernels::TapOrder::kTilesOfFour;
  return {order, "fewer multiplications"};
}

}  // namespace

int64_t LayerTeam::tile_stride(int depth) const {
  return operand_stride(int(kernels::padded_depth(depth, functions_.tiles.depth_step)));
}

/// Tiles whose transformed inputs stay in the second cache, or as many as make it worth while to
/// read all weights.
int LayerTeam::tiles_at_a_time(int side, int depth) const {
  constexpr int64_t kCacheBytes = 1 << 20;
  const int64_t bytes = (side + 2) * (side + 2) * tile_stride(depth) * operand_size();
  return int(std::clamp<int64_t>(kCacheBytes / bytes, 24, 192));
}

int64_t LayerTeam::transformed_bytes(int side, int depth) const {
  const int tiles = std::max(kLeastTiles, tiles_at_a_time(side, depth));
  return int64_t(side + 2) * (side + 2) * (tiles * tile_stride(depth) * operand_size() + kGap);
}

Split LayerTeam::split_of_tiles(int tiles, const PackedLayer& layer) const {
  return split_of_at_most(tiles / kLeastTiles, layer);
}

void LayerTeam::multiply_tiles(int thread, const PackedLayer& layer, kernels::TileConvolution call,
                               int64_t rows, bool to_f32) {
  SACT_ASSERT(!observer_);  // it would see nothing of this layer
  const int side = call.grid.side, count = call.last, depth = call.product.depth;
  const Split split = split_of_tiles(count, layer);
  note(thread, layer.index, rows, split, taps_over(side));
  call.tile_stride = tile_stride(depth);
  const auto room_for = [&](int tiles) {
    call.product_stride = tiles * call.tile_stride + kGap / operand_size();
  };
  const kernels::TileFunctions& tile_functions = functions_.tiles;
  const auto product = to_f32 ? tile_functions.product_to_f32 : tile_functions.product;
  if (split.column_parts == 1) {
    const Timer timer(*this, thread, layer.index);
    const int most = tiles_at_a_time(side, depth);
    const int32_t* tiles = call.tiles;
    room_for(most);
    call.transformed = offset(call.transformed, thread * transformed_bytes(side, depth), 1);
    const Share share = share_of(count, thread);
    const void* next = call.product.next_weights;
    for_each_chunk(share, most, [&](Share chunk) {
      call.tiles = tiles + chunk.first;
      call.last = chunk.count();
      call.product.next_weights = chunk.last == share.last ? next : call.product.weights;
      tile_functions.transform(call);
      product(call);
    });
    return;
  }
  room_for(count);  // fewer than kLeastTiles for each thread
  const Share mine = share_of(count, thread);
  call.first = mine.first;
  call.last = mine.last;
  {
    const Timer timer(*this, thread, layer.index);
    tile_functions.transform(call);
  }
  team_->barrier();
  const Timer timer(*this, thread, layer.index);
  const int64_t row_part = thread / split.column_parts, column_part = thread % split.column_parts;
  const int64_t panels = layer.weights.panels();
  call.first = int(count * row_part / split.row_parts);
  call.last = int(count * (row_part + 1) / split.row_parts);
  call.product.first_panel = int(panels * column_part / split.column_parts);
  call.product.last_panel = int(panels * (column_part + 1) / split.column_parts);
  product(call);
}

}  // namespace sact::engine
