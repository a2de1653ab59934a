// The layers of a network as a session runs them: stem, units, head.
#include <cstring>

#include "base/half.h"
#include "engine/session_parts.h"

namespace sact::engine {
namespace {

void clear_row(void* rows, int64_t row, int64_t stride, int element_size) {
  std::memset(offset(rows, row * stride, element_size), 0, size_t(stride) * size_t(element_size));
}

void store_value(float value, float* to) {
  *to = value;
}
void store_value(float value, uint16_t* to) {
  *to = bf16_from_float(value);
}

/// One line of planes becomes pixels.
template <typename T>
void interleave(const float* line, int64_t plane, int width, T* pixels) {
  for (int x = 0; x < width; ++x) {
    for (int c = 0; c < 3; ++c) store_value(line[c * plane + x], pixels + 3 * x + c);
  }
}

}  // namespace

void Session::fill_padded(int thread, const float* planes) {
  const PaddedImages& input = geometry_->input;
  const int height = input.size.height, width = input.size.width;
  const int64_t plane = int64_t(height) * width;
  const Share lines = share_of(input.images * height, thread);
  for (int line = lines.first; line < lines.last; ++line) {
    const int image = line / height, y = line % height;
    const float* from = planes + image * 3 * plane + int64_t(y) * width;
    void* to = offset(padded_, input.offset(image, y, 0), operand_size());
    if (plan_->type == kernels::DataType::kFloat32) {
      interleave(from, plane, width, static_cast<float*>(to));
    } else {
      interleave(from, plane, width, static_cast<uint16_t*>(to));
    }
  }
}

void Session::run_stem(int thread, const float* planes) {
  const Geometry& g = *geometry_;
  const int channels = plan_->spec.stem_channels();
  const int64_t stride = row_stride(channels, 4);
  fill_padded(thread, planes);  // its border is zero already
  team_.meet();
  const bool pooled = !g.pool_rows.empty();
  kernels::RowProduct call = product_of(plan_->stem);
  call.rows = g.stem.rows();
  call.input = padded_;
  call.input_stride = 1;
  call.input_rows = g.stem_taps.data();
  call.output = pooled ? next_stream_ : stream_;
  call.output_stride = stride;
  multiply(thread, plan_->stem, call, true);
  team_.meet();
  if (!pooled) return;
  const Share share = share_of(g.first.rows(), thread);
  plan_->table.maximum({share.count(), next_stream_, stride, g.pool_rows.data() + share.first * 9L,
                        g.stem.zero_row(), channels, stream_ + share.first * stride, stride});
  team_.meet();
}

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
  team_.meet();

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
  team_.meet();

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
  team_.meet();
  if (unit.conv3) {
    kernels::RowProduct conv3 = product_of(*unit.conv3);
    conv3.rows = b.grid.rows();
    conv3.input = narrow_;
    conv3.input_stride = operand_stride(width);
    conv3.output = next_stream_;
    conv3.output_stride = shortcut.output_stride;
    conv3.add = true;
    multiply(thread, *unit.conv3, conv3, true);
    team_.meet();
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
  team_.meet();

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
    team_.meet();
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
    team_.meet();
    conv3.input = narrow_;
    multiply(thread, *unit.conv3, conv3, true);
    team_.meet();
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
  team_.meet();
  kernels::RowProduct conv1 = window_product(unit.conv1, block, preactivated_, rows_.dilated());
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = rows_.dilated().data();
  conv1.relu = true;
  multiply(thread, unit.conv1, conv1, false);
  team_.meet();
  kernels::RowProduct conv2 = window_product(unit.conv2, block, hidden_, rows_.active());
  set_residual(conv2, block, number);
  multiply(thread, unit.conv2, conv2, true);
  team_.meet();
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
  team_.meet();
  if (adaptive) {
    start_halting(thread, block);
    team_.meet();
    if (units[0].score) {
      add_to_scores(thread, block, *units[0].score, share_of(grid.rows(), thread));
    }
    halt(thread, block, 0, results);
    if (!units[0].score) team_.meet();
  }
  for (int number = 1; number <= last && !rows_.active().empty(); ++number) {
    if (spec.unit == UnitKind::kBottleneck) {
      run_bottleneck(thread, block, number);
    } else {
      run_basic(thread, block, number);
    }
    if (adaptive) halt(thread, block, number, results);
    if (!units[size_t(number)].score) team_.meet();
  }
  if (adaptive) {
    if (thread == 0) std::swap(stream_, mean_);
    team_.meet();
  }
}

void Session::run_head(int thread, Results results) {
  const ModelSpec& spec = plan_->spec;
  const Grid& grid = geometry_->blocks.back().grid;
  const int channels = spec.block_channels(spec.blocks() - 1);
  // Images are shared out; each is normalised in chunks and added up.
  Scratch& scratch = scratch_[size_t(thread)];
  const Share images = share_of(grid.images, thread);
  const int64_t stride = row_stride(channels, 4);
  for (int image = images.first; image < images.last; ++image) {
    double* sums = scratch.active;
    std::fill_n(sums, channels, 0.0);
    for_each_chunk({0, grid.positions()}, chunk_rows(channels * 4), [&](Share chunk) {
      const float* rows = stream_ + (int64_t(image) * grid.positions() + chunk.first) * stride;
      plan_->table.f32.norm({chunk.count(), rows, stride, nullptr, plan_->norm.scale.data(),
                             plan_->norm.shift.data(), scratch.normalised, stride, channels});
      std::fill_n(scratch.sums, channels, 0.0f);
      plan_->table.sum({chunk.count(), static_cast<float*>(scratch.normalised), stride, nullptr,
                        channels, scratch.sums});
      for (int c = 0; c < channels; ++c) sums[c] += scratch.sums[c];
    });
    for (int c = 0; c < channels; ++c) {
      const float mean = float(sums[c] / grid.positions());
      void* to = offset(head_input_, int64_t(image) * channels + c, operand_size());
      if (plan_->type == kernels::DataType::kFloat32) {
        store_value(mean, static_cast<float*>(to));
      } else {
        store_value(mean, static_cast<uint16_t*>(to));
      }
    }
  }
  team_.meet();
  const int64_t panels = plan_->head.weights.panels();
  const Timer timer(*this, thread, plan_->head.index);
  const Split split{1, team_.size(), "a row for each image"};
  note(thread, plan_->head.index, grid.images, split, kernels::kOneTap);
  kernels::RowProduct call = product_of(plan_->head);
  call.rows = 1;
  call.input_stride = channels;
  call.first_panel = int(panels * thread / team_.size());
  call.last_panel = int(panels * (thread + 1) / team_.size());
  for (int image = 0; image < grid.images; ++image) {
    call.input = offset(head_input_, int64_t(image) * channels, operand_size());
    call.output = results[size_t(image)].logits.data();
    plan_->functions().product_to_f32(call);
  }
}

}  // namespace sact::engine
