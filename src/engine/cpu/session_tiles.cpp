// 3x3 convolutions over tiles as a session runs them.
#include <algorithm>

#include "engine/cpu/session.h"
#include "engine/cpu/tile_choice.h"
#include "engine/cpu/touched_tiles.h"

namespace sact::engine {
namespace {

WindowLayer window_layer(const PackedLayer& layer) {
  return {layer.weights.depth, layer.weights.columns, layer.type()};
}

}  // namespace

/// The side of a block's tiles: all its 3x3 layers of stride 1 are alike, or nearly.
int CpuSession::chosen_side(int block, int images, Size size) const {
  const PackedUnit& unit = plan_->blocks[size_t(block)].back();
  for (const PackedLayer& layer : unit.layers) {
    if (layer.tiles) return tile_side(window_layer(layer), images, size.height, size.width);
  }
  return 0;
}

int64_t CpuSession::transformed_in(int block, int images, Size size) const {
  const int side = chosen_side(block, images, size);
  int64_t most = 0;
  for (const PackedUnit& unit : plan_->blocks[size_t(block)]) {
    for (const PackedLayer& layer : unit.layers) {
      if (side > 0 && layer.tiles) {
        most = std::max(most, transformed_bytes(side, layer.weights.depth));
      }
    }
  }
  return most;
}

kernels::TileGrid CpuSession::tile_grid(int block) const {
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  return {grid.images, grid.size.height, grid.size.width, tile_sides_[size_t(block)]};
}

/// For the geometry of the run: which blocks have tiles, and their weights.
void CpuSession::choose_tiles() {
  tile_sides_.assign(plan_->blocks.size(), 0);
  tile_weights_.assign(size_t(plan_->layers), nullptr);
  std::vector<TileWeights*> layers;
  std::vector<int> sides;
  const auto for_each_layer = [&](const auto& work) {
    for (size_t block = 0; block < plan_->blocks.size(); ++block) {
      if (tile_sides_[block] == 0) continue;
      for (const PackedUnit& unit : plan_->blocks[block]) {
        for (const PackedLayer& layer : unit.layers) {
          if (layer.tiles) work(layer, tile_sides_[block]);
        }
      }
    }
  };
  for (size_t block = 0; block < plan_->blocks.size(); ++block) {
    const Grid& grid = geometry_->blocks[block].grid;
    tile_sides_[block] = chosen_side(int(block), grid.images, grid.size);
  }
  for_each_layer([&](const PackedLayer& layer, int side) {
    layers.push_back(layer.tiles.get());
    sides.push_back(side);
  });
  make_tile_weights(layers, sides, *team_);
  for_each_layer([&](const PackedLayer& layer, int side) {
    tile_weights_[size_t(layer.index)] = &layer.tiles->of(side);
  });
}

/// Every position is active.
void CpuSession::start_tiles(int block) {
  if (tile_sides_[size_t(block)] == 0) return;
  all_tiles(tile_grid(block), tiles_);
  if (plan_->blocks[size_t(block)][0].layers[0].kernel == 3) wide_tiles_ = tiles_;
}

/// After the active rows have changed.
void CpuSession::update_tiles(int block) {
  if (tile_sides_[size_t(block)] == 0 || rows_.active().empty()) return;
  touched_tiles(tile_grid(block), rows_.active_mask(), tiles_);
  if (plan_->blocks[size_t(block)][0].layers[0].kernel == 3) {
    touched_tiles(tile_grid(block), rows_.dilated_mask(), wide_tiles_);
  }
}

const RowList& CpuSession::tiles_in(Domain domain) const {
  return domain == Domain::kDilated ? wide_tiles_ : tiles_;
}

bool CpuSession::runs_over_tiles(int block, const PackedLayer& layer) const {
  if (!tile_weights_[size_t(layer.index)]) return false;
  const WindowLayer window = window_layer(layer);
  return tile_cost(window, tile_sides_[size_t(block)], int64_t(tiles_in(layer.domain).size())) <
         direct_cost(window, int64_t(rows_in(layer.domain).size()));
}

const void* CpuSession::first_window_weights(int thread, int block, const PackedLayer& layer,
                                             Split split) const {
  if (!runs_over_tiles(block, layer)) return first_weights(thread, layer, split);
  return first_weights(thread, *tile_weights_[size_t(layer.index)],
                       split_of_tiles(int(tiles_in(layer.domain).size()), layer));
}

void CpuSession::convolve(int thread, int block, const PackedLayer& layer,
                          const kernels::RowProduct& product, bool inputs_everywhere, bool to_f32) {
  if (runs_over_tiles(block, layer)) {
    convolve_tiles(thread, block, layer, product, inputs_everywhere, to_f32);
  } else {
    multiply(thread, layer, product, to_f32);
  }
}

/// The calling thread's part of a layer over tiles. Its output is at the rows of its positions.
/// Inputs of a bottleneck unit were computed at the dilated set, others everywhere.
void CpuSession::convolve_tiles(int thread, int block, const PackedLayer& layer,
                                const kernels::RowProduct& product, bool inputs_everywhere,
                                bool to_f32) {
  const int rows = geometry_->blocks[size_t(block)].grid.rows();
  const RowList& tiles = tiles_in(layer.domain);
  kernels::TileConvolution call;
  call.grid = tile_grid(block);
  call.tiles = tiles.data();
  call.last = int(tiles.size());
  if (int(rows_.active().size()) < rows) {
    const bool dilated = layer.domain == Domain::kDilated;
    call.wanted = dilated ? rows_.dilated_mask() : rows_.active_mask();
    if (!inputs_everywhere) call.present = rows_.dilated_mask();
  }
  call.transformed = transformed_;
  call.product = product;
  call.product.weights = tile_weights_[size_t(layer.index)]->data;
  call.product.taps = call.grid.products();
  call.product.input_rows = call.product.list = call.product.output_rows = nullptr;
  multiply_tiles(thread, layer, call, int64_t(rows_in(layer.domain).size()), to_f32);
}

}  // namespace sact::engine
