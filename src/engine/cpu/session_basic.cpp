// Units of two 3x3 convolutions as a session runs them.
#include <algorithm>

#include "engine/cpu/session.h"

namespace sact::engine {

/// The first unit of a block, like run_first_bottleneck().
void CpuSession::run_first_basic(int thread, int block) {
  const ModelSpec& spec = plan_->spec;
  const PackedUnit& unit = plan_->blocks[size_t(block)][0];
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int in = spec.block_input_channels(block), width = spec.block_width(block);
  const Share share = share_of(b.before.rows(), thread);
  make_operands(unit, in, stream_ + share.first * row_stride(in, 4), nullptr, share.count(),
                offset(preactivated_, share.first * operand_stride(in), operand_size()));
  if (thread == 0) {
    clear_row(preactivated_, b.before.zero_row(), operand_stride(in), operand_size());
    clear_row(hidden_, b.grid.zero_row(), operand_stride(width), operand_size());
  }
  team_->barrier();

  enter_block(thread, block);
  const int64_t stream_stride = row_stride(spec.block_channels(block), 4);
  if (unit.shortcut) {
    kernels::RowProduct shortcut = shortcut_product(unit, block);
    shortcut.input = preactivated_;
    shortcut.list = b.entry_centres.data();
    multiply(thread, *unit.shortcut, shortcut, true);
  } else {  // the grids are the same
    const int64_t first = share.first * stream_stride;
    std::copy_n(next_stream_ + first, share.count() * stream_stride, stream_ + first);
  }

  kernels::RowProduct conv1 = product_of(unit.layers[0]);
  conv1.rows = b.grid.rows();
  conv1.input = preactivated_;
  conv1.input_stride = operand_stride(in);
  conv1.input_rows = b.entry.data();
  conv1.zero_row = b.before.zero_row();
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.epilogue.relu = unit.layers[0].relu;
  convolve(thread, block, unit.layers[0], conv1, true, false);
  team_->barrier();

  kernels::RowProduct conv2 = product_of(unit.layers[1]);
  conv2.rows = b.grid.rows();
  conv2.input = hidden_;
  conv2.input_stride = operand_stride(width);
  conv2.input_rows = b.neighbours.data();
  conv2.zero_row = b.grid.zero_row();
  conv2.output = stream_;
  conv2.output_stride = stream_stride;
  conv2.epilogue.add = true;
  conv2.epilogue.relu = unit.relu;
  convolve(thread, block, unit.layers[1], conv2, true, true);
  team_->barrier();
  if (unit.score) add_to_scores(thread, block, *unit.score, share_of(conv2.rows, thread));
}

/// A later unit of two 3x3 convolutions. The first reads neighbours of neighbours: their norms are
/// taken everywhere.
void CpuSession::run_basic(int thread, int block, int number) {
  const PackedUnit& unit = plan_->blocks[size_t(block)][size_t(number)];
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const int channels = plan_->spec.block_channels(block), width = plan_->spec.block_width(block);
  const RowList& entered = rows_in(unit.layers[0].domain);
  const Share share = share_of(grid.rows(), thread);
  make_operands(unit, channels, stream_ + share.first * row_stride(channels, 4), nullptr,
                share.count(),
                offset(preactivated_, share.first * operand_stride(channels), operand_size()));
  if (thread == 0) {
    clear_row(preactivated_, grid.zero_row(), operand_stride(channels), operand_size());
  }
  team_->barrier();
  kernels::RowProduct conv1 = window_product(unit.layers[0], block, preactivated_, entered);
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = entered.data();
  conv1.epilogue.relu = unit.layers[0].relu;
  convolve(thread, block, unit.layers[0], conv1, true, false);
  team_->barrier();
  kernels::RowProduct conv2 = window_product(unit.layers[1], block, hidden_, rows_.active());
  set_residual(conv2, block, number);
  convolve(thread, block, unit.layers[1], conv2, false, true);
  team_->barrier();
  if (unit.score) add_to_scores(thread, block, *unit.score, share_of(conv2.rows, thread));
}

}  // namespace sact::engine
