// The layers of blocks as a session runs them.
#include <algorithm>

#include "base/error.h"
#include "engine/cpu/session.h"

namespace sact::engine {

/// From here on `stream_` is the block's and `next_stream_` what entered it; every position is
/// active. The threads have left the layers before.
void CpuSession::enter_block(int thread, int block) {
  if (thread == 0) {
    std::swap(stream_, next_stream_);
    rows_.start(geometry_->blocks[size_t(block)].grid);
    start_tiles(block);
  }
  team_->barrier();
  if (plan_->spec.adaptive()) start_halting(thread, block);
}

/// The first unit of a block is evaluated everywhere; it reads the grid before and its shortcut is
/// a convolution. What has a stride, the first convolution or the second, leads to the block's
/// grid.
void CpuSession::run_first_bottleneck(int thread, int block) {
  const PackedUnit& unit = plan_->blocks[size_t(block)][0];
  SACT_ASSERT(unit.shortcut);  // which the residual is added to
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int width = plan_->spec.block_width(block);
  const bool strided = unit.layers[0].stride > 1;
  const Grid& grid = strided ? b.grid : b.before;
  const Geometry::Hidden& hidden = strided ? b.hidden : b.hidden_before;
  if (thread == 0) clear_border(hidden, width);
  kernels::RowProduct conv1 = product_of(unit.layers[0]);
  conv1.rows = grid.rows();
  conv1.input_stride = operand_stride(unit.layers[0].weights.depth);
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = hidden.rows.empty() ? nullptr : hidden.rows.data();
  conv1.epilogue.relu = unit.layers[0].relu;
  run_conv1(thread, unit, conv1, strided ? b.entry_centres.data() : nullptr,
            split_of(conv1.rows, unit.layers[0]));
  team_->barrier();

  enter_block(thread, block);
  kernels::RowProduct conv2 = product_of(unit.layers[1]);
  conv2.rows = b.grid.rows();
  conv2.input = hidden_;
  conv2.input_stride = operand_stride(width);
  conv2.list = rows_.active().data();
  if (hidden.rows.empty()) {
    conv2.input_rows = strided ? b.neighbours.data() : b.entry.data();
    conv2.zero_row = grid.zero_row();
  } else {
    conv2.input_rows = hidden.neighbours.data();
  }
  conv2.output_stride = operand_stride(width);
  conv2.epilogue.relu = unit.layers[1].relu;
  kernels::RowProduct conv3 = product_of(unit.layers[2]);
  conv3.rows = conv2.rows;
  conv3.input_stride = operand_stride(width);
  conv3.output = stream_;
  conv3.output_stride = row_stride(plan_->spec.block_channels(block), 4);
  conv3.output_rows = rows_.active().data();
  conv3.epilogue.add = true;  // to the shortcut
  conv3.epilogue.relu = unit.relu;
  run_conv2_and_conv3(thread, block, unit, conv2, conv3, split_of(conv2.rows, unit.layers[1]));
  team_->barrier();
  // From now on it has the rows of this grid. Where no unit follows, others may be in the next
  // block.
  if (thread == 0 && plan_->blocks[size_t(block)].size() > 1) clear_border(b.hidden, width);
}

void CpuSession::clear_border(const Geometry::Hidden& hidden, int width) {
  for (const int32_t row : hidden.border) {
    clear_row(hidden_, row, operand_stride(width), operand_size());
  }
}

const int32_t* CpuSession::hidden_rows_of(int thread, const Geometry::Hidden& hidden,
                                          const RowList& positions) {
  if (hidden.rows.empty()) return positions.data();
  if (positions.size() == hidden.rows.size()) return hidden.rows.data();
  int32_t* rows = scratch_[size_t(thread)].hidden;
  for (size_t i = 0; i < positions.size(); ++i) rows[i] = hidden.rows[size_t(positions[i])];
  return rows;
}

void CpuSession::set_residual(kernels::RowProduct& call, int block, int number) const {
  const RowList& active = rows_.active();
  call.output = stream_;
  call.output_stride = row_stride(plan_->spec.block_channels(block), 4);
  call.output_rows = active.data();
  call.epilogue.add = true;
  call.epilogue.relu = plan_->blocks[size_t(block)][size_t(number)].relu;
  if (!plan_->spec.adaptive()) return;
  call.epilogue.mean = mean_;
  call.epilogue.remainders = remainders_;
  call.epilogue.first_residual = number == 1;
  call.epilogue.mean_only = number + 1 == plan_->spec.units[size_t(block)];
}

/// A 3x3 convolution inside of a block, for a list of positions.
kernels::RowProduct CpuSession::window_product(const PackedLayer& layer, int block,
                                               const void* input, const RowList& rows) const {
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
void CpuSession::run_bottleneck(int thread, int block, int number) {
  const auto& units = plan_->blocks[size_t(block)];
  const PackedUnit& unit = units[size_t(number)];
  const PackedUnit* next = size_t(number) + 1 < units.size() ? &units[size_t(number) + 1] : nullptr;
  const int width = plan_->spec.block_width(block);
  const Geometry::Hidden& hidden = geometry_->blocks[size_t(block)].hidden;
  const RowList& entered = rows_in(unit.layers[0].domain);
  const RowList& active = rows_in(unit.layers[1].domain);
  const Split split1 = split_of(int(entered.size()), unit.layers[0]);
  const Split split2 = split_of(int(active.size()), unit.layers[1]);
  const Split split3 = split_of(int(active.size()), unit.layers[2]);

  kernels::RowProduct conv1 = product_of(unit.layers[0]);
  conv1.rows = int(entered.size());
  conv1.input_stride = operand_stride(unit.layers[0].weights.depth);
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = hidden_rows_of(thread, hidden, entered);
  conv1.epilogue.relu = unit.layers[0].relu;
  conv1.next_weights = first_window_weights(thread, block, unit.layers[1], split2);
  run_conv1(thread, unit, conv1, entered.data(), split1);
  team_->barrier();

  kernels::RowProduct conv2 = window_product(unit.layers[1], block, hidden_, active);
  if (!hidden.rows.empty()) {
    conv2.input_rows = hidden.neighbours.data();
    conv2.zero_row = -1;  // each of the border is one
  }
  conv2.output_stride = operand_stride(width);
  conv2.epilogue.relu = unit.layers[1].relu;
  conv2.next_weights = first_weights(thread, unit.layers[2], split3);
  kernels::RowProduct conv3 = product_of(unit.layers[2]);
  conv3.rows = conv2.rows;
  conv3.input_stride = operand_stride(width);
  set_residual(conv3, block, number);
  if (next) conv3.next_weights = first_weights(thread, next->layers[0], split1);
  run_conv2_and_conv3(thread, block, unit, conv2, conv3, split2);
}

/// The first convolution of a bottleneck unit, with the norm before it. `read` has the rows of the
/// stream that it reads; null: all, in order.
void CpuSession::run_conv1(int thread, const PackedUnit& unit, kernels::RowProduct conv1,
                           const int32_t* read, Split split) {
  const PackedLayer& layer = unit.layers[0];
  if (reads_stream(unit)) {
    conv1.input = stream_;
    conv1.list = read;
    multiply(thread, layer, conv1, false);
    return;
  }
  const int channels = layer.weights.depth;
  const auto make_part = [&](Share part, void* to) {
    make_operands(unit, channels, read ? stream_ : stream_ + part.first * row_stride(channels, 4),
                  read ? read + part.first : nullptr, part.count(), to);
  };
  const Share share = share_of(conv1.rows, thread);
  if (split.column_parts > 1) {  // each needs the rows of all
    make_part(share, offset(preactivated_, share.first * conv1.input_stride, operand_size()));
    team_->barrier();
    conv1.input = preactivated_;
    multiply(thread, layer, conv1, false);
    return;
  }
  note(thread, layer.index, conv1.rows, split, kernels::kOneTap);
  for_each_chunk(share, chunk_rows(channels * 4), [&](Share chunk) {
    {
      const Timer timer(*this, thread, layer.index);
      make_part(chunk, scratch_[size_t(thread)].normalised);
    }
    kernels::RowProduct call =
        rows_of(conv1, chunk.first, chunk.last, operand_size(), operand_size());
    call.input = scratch_[size_t(thread)].normalised;
    multiply_alone(thread, layer, call, false);
  });
}

/// What the first unit of a block is added to: a convolution of what entered the block, where its
/// windows have their centres.
kernels::RowProduct CpuSession::shortcut_product(const PackedUnit& unit, int block) const {
  kernels::RowProduct call = product_of(*unit.shortcut);
  call.rows = geometry_->blocks[size_t(block)].grid.rows();
  call.input_stride = operand_stride(unit.shortcut->weights.depth);
  call.output = stream_;
  call.output_stride = row_stride(unit.shortcut->weights.columns, 4);
  return call;
}

/// Its input, for some of the rows.
void CpuSession::make_centre_operands(const PackedUnit& unit, int block, Share rows,
                                      void* output) const {
  const RowList& centres = geometry_->blocks[size_t(block)].entry_centres;
  make_operands(unit, unit.shortcut->weights.depth, next_stream_, centres.data() + rows.first,
                rows.count(), output);
}

/// All of it, where threads share its columns.
void CpuSession::multiply_shortcut(int thread, const PackedUnit& unit, int block) {
  kernels::RowProduct shortcut = shortcut_product(unit, block);
  if (reads_stream(unit)) {
    shortcut.input = next_stream_;
    shortcut.list = geometry_->blocks[size_t(block)].entry_centres.data();
  } else {  // each needs the rows of all
    const Share share = share_of(shortcut.rows, thread);
    make_centre_operands(
        unit, block, share,
        offset(preactivated_, share.first * shortcut.input_stride, operand_size()));
    team_->barrier();
    shortcut.input = preactivated_;
  }
  multiply(thread, *unit.shortcut, shortcut, true);
}

/// The rest of a bottleneck unit, its shortcut if it has one, and what its rows add to the scores.
void CpuSession::run_conv2_and_conv3(int thread, int block, const PackedUnit& unit,
                                     kernels::RowProduct conv2, kernels::RowProduct conv3,
                                     Split split) {
  const Share share = share_of(conv2.rows, thread);
  const bool tiles = runs_over_tiles(block, unit.layers[1]);
  if (tiles) {  // a tile has rows of several chunks: all are done before
    conv2.output = narrow_;
    convolve_tiles(thread, block, unit.layers[1], conv2, false, false);
    team_->barrier();
    conv3.input = narrow_;
    if (conv3.rows < geometry_->blocks[size_t(block)].grid.rows()) conv3.list = conv2.list;
  }
  const bool by_columns = split.column_parts > 1, conv2_first = tiles || by_columns;
  if (by_columns && !tiles) {  // conv3 reads columns of all threads
    conv2.output = narrow_;
    multiply(thread, unit.layers[1], conv2, false);
    team_->barrier();
    conv3.input = narrow_;
  }
  const Split split3 = split_of(conv3.rows, unit.layers[2]);
  if (by_columns && split3.column_parts > 1) {
    if (unit.shortcut) multiply_shortcut(thread, unit, block);
    multiply(thread, unit.layers[2], conv3, true);
    team_->barrier();
    if (unit.score) add_to_scores(thread, block, *unit.score, share);
    return;
  }
  const Scratch& scratch = scratch_[size_t(thread)];
  if (!conv2_first) note(thread, unit.layers[1].index, conv2.rows, split, taps_of(conv2));
  note(thread, unit.layers[2].index, conv3.rows, split3, kernels::kOneTap);
  if (unit.shortcut) note(thread, unit.shortcut->index, conv3.rows, split3, kernels::kOneTap);
  if (!conv2_first) {
    conv2.output = scratch.narrow;
    conv3.input = scratch.narrow;
  }
  for_each_chunk(share, chunk_rows(unit.layers[2].weights.columns * 4), [&](Share chunk) {
    kernels::RowProduct call3 = conv3;
    call3.rows = chunk.count();
    call3.output_rows += chunk.first;
    if (conv2_first) {
      call3 = rows_of(conv3, chunk.first, chunk.last, operand_size(), 4);
    } else {
      kernels::RowProduct call2 = conv2;
      call2.rows = chunk.count();
      call2.list += chunk.first;
      multiply_alone(thread, unit.layers[1], call2, false);
    }
    if (unit.shortcut) {
      {
        const Timer timer(*this, thread, unit.shortcut->index);
        make_centre_operands(unit, block, chunk, scratch.normalised);
      }
      kernels::RowProduct call =
          rows_of(shortcut_product(unit, block), chunk.first, chunk.last, operand_size(), 4);
      call.input = scratch.normalised;
      multiply_alone(thread, *unit.shortcut, call, true);
    }
    multiply_alone(thread, unit.layers[2], call3, true);
    if (unit.score) add_to_scores(thread, block, *unit.score, chunk);
  });
}

void CpuSession::run_block(int thread, int block, Results results) {
  const ModelSpec& spec = plan_->spec;
  const auto& units = plan_->blocks[size_t(block)];
  const int last = int(units.size()) - 1;
  const bool adaptive = spec.adaptive(), bottleneck = units[0].layers[0].kernel == 1;
  bottleneck ? run_first_bottleneck(thread, block) : run_first_basic(thread, block);
  if (adaptive) {
    halt(thread, block, 0, results);
    if (!units[0].score) team_->barrier();
  }
  if (stopped(thread)) return;
  for (int number = 1; number <= last && !rows_.active().empty(); ++number) {
    bottleneck ? run_bottleneck(thread, block, number) : run_basic(thread, block, number);
    if (adaptive) halt(thread, block, number, results);
    if (!units[size_t(number)].score) team_->barrier();
    if (stopped(thread)) return;
  }
  if (adaptive) {
    if (thread == 0) std::swap(stream_, mean_);
    team_->barrier();
  }
}

}  // namespace sact::engine
