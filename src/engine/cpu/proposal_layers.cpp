#include "engine/cpu/proposal_layers.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/cpu/tile_choice.h"
#include "engine/cpu/touched_tiles.h"

namespace sact::engine {

ProposalPlan::ProposalPlan(const ModelSpec& detector, const WeightSource& weights,
                           const kernels::Table& kernel_table, kernels::DataType operands,
                           Multiplications multiplications)
    : table(kernel_table), type(operands), arena(0) {
  const Folding folding(detector, weights);
  const ProposalSteps& steps = *folding.architecture().proposals;
  Packing packing(table, type, multiplications);
  hidden = packing.layer(folding.unscaled_layer(steps.hidden));
  score = packing.layer(folding.unscaled_layer(steps.score));
  box = packing.layer(folding.unscaled_layer(steps.box));
  layers = packing.count();
  arena = packing.take_arena();
}

ProposalSession::ProposalSession(std::shared_ptr<const ProposalPlan> plan,
                                 std::shared_ptr<ThreadTeam> team)
    : LayerTeam(std::move(team), plan->table, plan->type), plan_(std::move(plan)) {}

void ProposalSession::prepare(Size size) {
  if (grid_.size == size) return;
  grid_ = {};
  const Grid grid{1, size};
  const int depth = plan_->hidden.weights.depth, columns = plan_->hidden.weights.columns;
  tile_side_ = plan_->hidden.tiles
                   ? tile_side({depth, columns, plan_->type}, 1, size.height, size.width)
                   : 0;
  const int64_t transformed =
      tile_side_ > 0 ? team_->size() * transformed_bytes(tile_side_, depth) : 0;
  take_memory(size, transformed);
  if (tile_side_ > 0) {
    TileWeights* const layers[] = {plan_->hidden.tiles.get()};
    const int sides[] = {tile_side_};
    make_tile_weights(layers, sides, *team_);
    all_tiles({1, size.height, size.width, tile_side_}, tiles_);
  } else {
    neighbours_ = neighbour_rows(grid, grid, 1);
  }
  grid_ = grid;
}

void ProposalSession::take_memory(Size size, int64_t transformed) {
  const int64_t rows = std::max(size.positions(), held_rows_);
  transformed = std::max(transformed, held_transformed_);
  const int64_t features = (rows + 1) * operand_stride(plan_->hidden.weights.depth);
  const int64_t hidden = rows * operand_stride(plan_->hidden.weights.columns);
  const int64_t outputs = plan_->score.weights.columns + plan_->box.weights.columns;
  const int64_t operands = (features + hidden) * operand_size();
  expect_memory(uint64_t(operands + transformed + 4 * rows * (9 + outputs)),
                fmt::format("proposals on features of {}x{}", size.height, size.width),
                arena_.bytes());
  if (rows == held_rows_ && transformed == held_transformed_) return;
  held_rows_ = 0;
  held_transformed_ = 0;
  arena_ = Arena(0);  // before more is taken
  Arena arena(size_t(operands + transformed) + (size_t{1} << 20));
  features_ = arena.take<std::byte>(features * operand_size());
  hidden_ = arena.take<std::byte>(hidden * operand_size());
  transformed_ = arena.take<std::byte>(transformed);
  arena_ = std::move(arena);
  held_rows_ = rows;
  held_transformed_ = transformed;
}

AnchorOutputs ProposalSession::run(const detect::FeatureMap& features) {
  SACT_ASSERT(features.channels == plan_->hidden.weights.depth);
  prepare(features.size);
  start_profile(plan_->layers);
  AnchorOutputs outputs;
  outputs.scores.resize(size_t(grid_.rows()) * size_t(plan_->score.weights.columns));
  outputs.codes.resize(size_t(grid_.rows()) * size_t(plan_->box.weights.columns));
  team_->run(team_->size(), [&](int thread) { work(thread, features, outputs); });
  return outputs;
}

void ProposalSession::work(int thread, const detect::FeatureMap& features, AnchorOutputs& outputs) {
  const int channels = plan_->hidden.weights.depth;
  const int64_t stride = operand_stride(channels);
  const Share share = share_of(grid_.rows(), thread);
  for (int64_t row = share.first; row < share.last; ++row) {
    store_operands(features.row(row), channels, offset(features_, row * stride, operand_size()));
  }
  if (thread == 0) clear_row(features_, grid_.zero_row(), stride, operand_size());
  team_->barrier();
  convolve(thread);
  team_->barrier();

  for (const auto& [layer, to] :
       {std::pair(&plan_->score, &outputs.scores), std::pair(&plan_->box, &outputs.codes)}) {
    kernels::RowProduct call = product_of(*layer);
    call.rows = grid_.rows();
    call.input = hidden_;
    call.input_stride = operand_stride(plan_->hidden.weights.columns);
    call.output = to->data();
    call.output_stride = layer->weights.columns;
    multiply(thread, *layer, call, true);
  }
}

/// The calling thread's part of the 3x3 convolution, at all positions.
void ProposalSession::convolve(int thread) {
  const PackedLayer& layer = plan_->hidden;
  kernels::RowProduct product = product_of(layer);
  product.rows = grid_.rows();
  product.input = features_;
  product.input_stride = operand_stride(layer.weights.depth);
  product.zero_row = grid_.zero_row();
  product.output = hidden_;
  product.output_stride = operand_stride(layer.weights.columns);
  product.epilogue.relu = layer.relu;
  if (tile_side_ == 0) {
    product.input_rows = neighbours_.data();
    multiply(thread, layer, product, false);
    return;
  }
  kernels::TileConvolution call;
  call.grid = {1, grid_.size.height, grid_.size.width, tile_side_};
  call.tiles = tiles_.data();
  call.last = int(tiles_.size());
  call.transformed = transformed_;
  call.product = product;
  call.product.weights = layer.tiles->of(tile_side_).data;
  call.product.taps = call.grid.products();
  multiply_tiles(thread, layer, call, grid_.rows(), false);
}

}  // namespace sact::engine
