// The layers of blocks as a session runs them.
#include "engine/session.h"

namespace sact::engine {

/// The first unit of a block is evaluated everywhere; it reads the grid before and its shortcut is
/// a convolution.
void Session::run_first_unit(int thread, int block) {
  const ModelSpec& spec = plan_->spec;
  const Unit& unit = plan_->blocks[size_t(block)][0];
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int in = spec.block_input_channels(block), width = spec.block_width(block);
  const Share share = share_of(b.before.rows(), thread);
  normalise(unit.norm1, stream_ + share.first * row_stride(in, 4), nullptr, share.count(),
            offset(preactivated_, share.first * operand_stride(in), operand_size()));
  if (thread == 0) {
    clear_row(preactivated_, b.before.zero_row(), operand_stride(in), operand_size());
    const Grid& hidden = unit.conv3 ? b.before : b.grid;
    clear_row(hidden_, hidden.zero_row(), operand_stride(width), operand_size());
  }
  team_->meet();

  kernels::RowProduct shortcut = product_of(*unit.shortcut);
  shortcut.rows = b.grid.rows();
  shortcut.input = preactivated_;
  shortcut.input_stride = operand_stride(in);
  shortcut.list = b.entry_centres.data();
  shortcut.output = next_stream_;
  shortcut.output_stride = row_stride(spec.block_channels(block), 4);
  multiply(thread, *unit.shortcut, shortcut, true);

  kernels::RowProduct conv1 = product_of(unit.conv1);
  conv1.rows = unit.conv3 ? b.before.rows() : b.grid.rows();
  conv1.input = preactivated_;
  conv1.input_stride = operand_stride(in);
  if (!unit.conv3) {
    conv1.input_rows = b.entry.data();
    conv1.zero_row = b.before.zero_row();
  }
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.relu = true;
  multiply(thread, unit.conv1, conv1, false);
  team_->meet();

  kernels::RowProduct conv2 = product_of(unit.conv2);
  conv2.rows = b.grid.rows();
  conv2.input = hidden_;
  conv2.input_stride = operand_stride(width);
  conv2.input_rows = unit.conv3 ? b.entry.data() : b.neighbours.data();
  conv2.zero_row = unit.conv3 ? b.before.zero_row() : b.grid.zero_row();
  conv2.output = unit.conv3 ? narrow_ : next_stream_;
  conv2.output_stride = unit.conv3 ? operand_stride(width) : shortcut.output_stride;
  conv2.relu = unit.conv3.has_value();
  conv2.add = !unit.conv3;
  multiply(thread, unit.conv2, conv2, !unit.conv3);
  team_->meet();
  if (unit.conv3) {
    kernels::RowProduct conv3 = product_of(*unit.conv3);
    conv3.rows = b.grid.rows();
    conv3.input = narrow_;
    conv3.input_stride = operand_stride(width);
    conv3.output = next_stream_;
    conv3.output_stride = shortcut.output_stride;
    conv3.add = true;
    multiply(thread, *unit.conv3, conv3, true);
    team_->meet();
  }
}

void Session::set_residual(kernels::RowProduct& call, int block, int number) const {
  const RowList& active = rows_.active();
  call.output = stream_;
  call.output_stride = row_stride(plan_->spec.block_channels(block), 4);
  call.output_rows = active.data();
  call.add = true;
  if (!plan_->spec.adaptive()) return;
  call.mean = mean_;
  call.remainders = remainders_;
  call.first_residual = number == 1;
  call.keep_output = number + 1 == plan_->spec.units[size_t(block)];
}

/// A 3x3 convolution inside of a block, for a list of positions.
kernels::RowProduct Session::window_product(const Layer& layer, int block, const void* input,
                                            const RowList& rows) const {
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  kernels::RowProduct call = product_of(layer);
  call.rows = int(rows.size());
  call.input = input;
  call.input_stride = operand_stride(layer.weights.depth);
  call.input_rows = b.neighbours.data();
  call.list = rows.data();
  call.zero_row = b.grid.zero_row();
  return call;
}

/// A later bottleneck unit, where the active set says. Where rows are enough for all threads, each
/// takes its rows through conv2, conv3 and their scores in chunks that stay in its cache.
void Session::run_bottleneck(int thread, int block, int number) {
  const auto& units = plan_->blocks[size_t(block)];
  const Unit& unit = units[size_t(number)];
  const Unit* next = size_t(number) + 1 < units.size() ? &units[size_t(number) + 1] : nullptr;
  const int width = plan_->spec.block_width(block);
  const RowList &active = rows_.active(), &dilated = rows_.dilated();
  const Split split1 = split_of(int(dilated.size()), unit.conv1);
  const Split split2 = split_of(int(active.size()), unit.conv2);

  kernels::RowProduct conv1 = product_of(unit.conv1);
  conv1.rows = int(dilated.size());
  conv1.input_stride = operand_stride(unit.conv1.weights.depth);
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = dilated.data();
  conv1.relu = true;
  conv1.next_weights = first_weights(thread, unit.conv2, split2);
  run_conv1(thread, unit, conv1, split1);
  team_->meet();

  kernels::RowProduct conv2 = window_product(unit.conv2, block, hidden_, active);
  conv2.output_stride = operand_stride(width);
  conv2.relu = true;
  conv2.next_weights = first_weights(thread, *unit.conv3, split2);
  kernels::RowProduct conv3 = product_of(*unit.conv3);
  conv3.rows = conv2.rows;
  conv3.input_stride = operand_stride(width);
  set_residual(conv3, block, number);
  if (next) conv3.next_weights = first_weights(thread, next->conv1, split1);
  run_conv2_and_conv3(thread, block, unit, conv2, conv3, split2);
}

/// The norm and the first convolution of a bottleneck unit.
void Session::run_conv1(int thread, const Unit& unit, kernels::RowProduct conv1, Split split) {
  const int channels = unit.conv1.weights.depth;
  const int32_t* rows = conv1.output_rows;
  const Share share = share_of(conv1.rows, thread);
  if (split.column_parts > 1) {  // each needs the rows of all
    normalise(unit.norm1, stream_, rows + share.first, share.count(),
              offset(preactivated_, share.first * conv1.input_stride, operand_size()));
    team_->meet();
    conv1.input = preactivated_;
    multiply(thread, unit.conv1, conv1, false);
    return;
  }
  note(thread, unit.conv1.index, conv1.rows, split, kernels::kOneTap);
  conv1.input = scratch_[size_t(thread)].normalised;
  for_each_chunk(share, chunk_rows(channels * 4), [&](Share chunk) {
    {
      const Timer timer(*this, thread, unit.conv1.index);
      normalise(unit.norm1, stream_, rows + chunk.first, chunk.count(),
                scratch_[size_t(thread)].normalised);
    }
    kernels::RowProduct call = conv1;
    call.rows = chunk.count();
    call.output_rows = rows + chunk.first;
    multiply_alone(thread, unit.conv1, call, false);
  });
}

void Session::run_conv2_and_conv3(int thread, int block, const Unit& unit,
                                  kernels::RowProduct conv2, kernels::RowProduct conv3,
                                  Split split) {
  const Share share = share_of(conv2.rows, thread);
  if (split.column_parts > 1) {
    conv2.output = narrow_;
    multiply(thread, unit.conv2, conv2, false);
    team_->meet();
    conv3.input = narrow_;
    multiply(thread, *unit.conv3, conv3, true);
    team_->meet();
    if (unit.score) add_to_scores(thread, block, *unit.score, share);
    return;
  }
  note(thread, unit.conv2.index, conv2.rows, split, kernels::tap_choice(conv2, plan_->type));
  note(thread, unit.conv3->index, conv3.rows, split, kernels::kOneTap);
  conv2.output = scratch_[size_t(thread)].narrow;
  conv3.input = scratch_[size_t(thread)].narrow;
  for_each_chunk(share, chunk_rows(unit.conv3->weights.columns * 4), [&](Share chunk) {
    kernels::RowProduct call2 = conv2, call3 = conv3;
    call2.rows = call3.rows = chunk.count();
    call2.list += chunk.first;
    call3.output_rows += chunk.first;
    multiply_alone(thread, unit.conv2, call2, false);
    multiply_alone(thread, *unit.conv3, call3, true);
    if (unit.score) add_to_scores(thread, block, *unit.score, chunk);
  });
}

/// A later unit of two 3x3 convolutions. The first reads neighbours of neighbours: their norms are
/// taken everywhere.
void Session::run_basic(int thread, int block, int number) {
  const Unit& unit = plan_->blocks[size_t(block)][size_t(number)];
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const int channels = plan_->spec.block_channels(block), width = plan_->spec.block_width(block);
  const Share share = share_of(grid.rows(), thread);
  normalise(unit.norm1, stream_ + share.first * row_stride(channels, 4), nullptr, share.count(),
            offset(preactivated_, share.first * operand_stride(channels), operand_size()));
  if (thread == 0) {
    clear_row(preactivated_, grid.zero_row(), operand_stride(channels), operand_size());
  }
  team_->meet();
  kernels::RowProduct conv1 = window_product(unit.conv1, block, preactivated_, rows_.dilated());
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = rows_.dilated().data();
  conv1.relu = true;
  multiply(thread, unit.conv1, conv1, false);
  team_->meet();
  kernels::RowProduct conv2 = window_product(unit.conv2, block, hidden_, rows_.active());
  set_residual(conv2, block, number);
  multiply(thread, unit.conv2, conv2, true);
  team_->meet();
  if (unit.score) add_to_scores(thread, block, *unit.score, share_of(conv2.rows, thread));
}

void Session::run_block(int thread, int block, Results results) {
  const ModelSpec& spec = plan_->spec;
  const auto& units = plan_->blocks[size_t(block)];
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const int last = int(units.size()) - 1;
  const bool adaptive = spec.adaptive();
  run_first_unit(thread, block);
  if (thread == 0) {
    std::swap(stream_, next_stream_);
    rows_.start(grid);
    clear_row(hidden_, grid.zero_row(), operand_stride(spec.block_width(block)), operand_size());
  }
  team_->meet();
  if (adaptive) {
    start_halting(thread, block);
    team_->meet();
    if (units[0].score) {
      add_to_scores(thread, block, *units[0].score, share_of(grid.rows(), thread));
    }
    halt(thread, block, 0, results);
    if (!units[0].score) team_->meet();
  }
  for (int number = 1; number <= last && !rows_.active().empty(); ++number) {
    if (spec.unit == UnitKind::kBottleneck) {
      run_bottleneck(thread, block, number);
    } else {
      run_basic(thread, block, number);
    }
    if (adaptive) halt(thread, block, number, results);
    if (!units[size_t(number)].score) team_->meet();
  }
  if (adaptive) {
    if (thread == 0) std::swap(stream_, mean_);
    team_->meet();
  }
}

}  // namespace sact::engine
