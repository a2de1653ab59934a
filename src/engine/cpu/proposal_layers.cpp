#include "engine/cpu/proposal_layers.h"

#include "base/error.h"
#include "base/memory.h"

namespace sact::engine {

ProposalPlan::ProposalPlan(const ModelSpec& detector, const WeightSource& weights,
                           const kernels::Table& kernel_table, kernels::DataType operands)
    : table(kernel_table), type(operands), arena(0) {
  const Folding folding(detector, weights);
  const ProposalSteps& steps = *folding.architecture().proposals;
  Packing packing(table, type, Multiplications::kDirect);
  hidden = packing.layer(folding.layer(steps.hidden));
  score = packing.layer(folding.layer(steps.score));
  box = packing.layer(folding.layer(steps.box));
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
  const int64_t features = (grid.rows() + 1) * operand_stride(plan_->hidden.weights.depth);
  const int64_t hidden = grid.rows() * operand_stride(plan_->hidden.weights.columns);
  const int64_t outputs = plan_->score.weights.columns + plan_->box.weights.columns;
  expect_memory(uint64_t((features + hidden) * operand_size() + grid.rows() * 4 * (9 + outputs)),
                fmt::format("proposals on features of {}x{}", size.height, size.width),
                arena_.bytes());
  neighbours_ = neighbour_rows(grid, grid, 1);
  if (grid.rows() > held_) {
    held_ = 0;
    arena_ = Arena(0);  // before more is taken
    Arena arena(size_t(features + hidden) * size_t(operand_size()) + (size_t{1} << 20));
    features_ = arena.take<std::byte>(features * operand_size());
    hidden_ = arena.take<std::byte>(hidden * operand_size());
    arena_ = std::move(arena);
    held_ = grid.rows();
  }
  grid_ = grid;
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

  kernels::RowProduct hidden = product_of(plan_->hidden);
  hidden.rows = grid_.rows();
  hidden.input = features_;
  hidden.input_stride = stride;
  hidden.input_rows = neighbours_.data();
  hidden.zero_row = grid_.zero_row();
  hidden.output = hidden_;
  hidden.output_stride = operand_stride(plan_->hidden.weights.columns);
  hidden.epilogue.relu = plan_->hidden.relu;
  multiply(thread, plan_->hidden, hidden, false);
  team_->barrier();

  for (const auto& [layer, to] :
       {std::pair(&plan_->score, &outputs.scores), std::pair(&plan_->box, &outputs.codes)}) {
    kernels::RowProduct call = product_of(*layer);
    call.rows = grid_.rows();
    call.input = hidden_;
    call.input_stride = hidden.output_stride;
    call.output = to->data();
    call.output_stride = layer->weights.columns;
    multiply(thread, *layer, call, true);
  }
}

}  // namespace sact::engine
