#include "engine/session.h"

#include <cstring>

#include "base/error.h"
#include "base/half.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/session_parts.h"
#include "model/flops.h"

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

Session::Session(std::shared_ptr<const Plan> plan, int threads)
    : plan_(std::move(plan)),
      team_(threads),
      profiling_(log_level() >= LogLevel::kVerbose),
      scratch_(size_t(threads)) {}

int Session::group_size(Size size) const {
  // The stream of block 1 is the largest; of more images than these it would be read from memory
  // time and again, while weights are read but once more for every group.
  constexpr int64_t kMostBytes = 4 << 20;
  const ModelSpec& spec = plan_->spec;
  const int64_t bytes = spec.block_size(0, size).positions() * spec.block_channels(0) * 4;
  return int(std::max<int64_t>(1, kMostBytes / bytes));
}

void Session::prepare(int count, Size size) {
  constexpr size_t kMostKnown = 8;
  if (geometry_ && geometry_->images == count && geometry_->image == size) return;
  geometry_ = nullptr;
  const auto known = std::find_if(geometries_.begin(), geometries_.end(), [&](const auto& g) {
    return g->images == count && g->image == size;
  });
  if (known == geometries_.end()) {
    auto made = std::make_unique<const Geometry>(plan_->spec, count, size);
    if (geometries_.size() == kMostKnown) geometries_.erase(geometries_.begin());
    geometries_.push_back(std::move(made));
    new_geometry_ = true;
  } else {
    std::rotate(known, known + 1, geometries_.end());
  }
  geometry_ = geometries_.back().get();
  try {
    take_memory(needs());
  } catch (...) {
    geometry_ = nullptr;
    throw;
  }
  std::memset(padded_, 0, size_t(geometry_->input.elements()) * size_t(operand_size()));
  tile_scores_.clear();
  if (plan_->spec.halting == Halting::kSact && plan_->spec.tile > 1) {
    for (const Geometry::Block& block : geometry_->blocks) {
      tile_scores_.emplace_back(block.grid.size.height, block.grid.size.width);
    }
  }
}

Session::Needs Session::needs() const {
  const ModelSpec& spec = plan_->spec;
  const Geometry& g = *geometry_;
  Needs needs;
  needs.stream = g.stem.rows() * row_stride(spec.stem_channels(), 4);
  needs.input = g.input.elements();
  needs.rows = g.most_rows();
  needs.images = g.images;
  for (int b = 0; b < spec.blocks(); ++b) {
    const Geometry::Block& block = g.blocks[size_t(b)];
    const int in = spec.block_input_channels(b), out = spec.block_channels(b);
    const int width = spec.block_width(b);
    // Operands have a row of zeros at their end.
    const int64_t before = block.before.rows() + 1, rows = block.grid.rows() + 1;
    needs.stream = std::max({needs.stream, before * row_stride(in, 4), rows * row_stride(out, 4)});
    needs.operand = std::max({needs.operand, before * operand_stride(std::max(in, width)),
                              rows * operand_stride(std::max(out, width))});
    needs.chunk = std::max(needs.chunk, chunk_rows(out * 4) * row_stride(out, 4));
    needs.channels = std::max<int64_t>(needs.channels, std::max(in, out));
  }
  return needs;
}

void Session::take_memory(const Needs& now) {
  Needs needs;
  needs.stream = std::max(now.stream, held_.stream);
  needs.operand = std::max(now.operand, held_.operand);
  needs.input = std::max(now.input, held_.input);
  needs.rows = std::max(now.rows, held_.rows);
  needs.chunk = std::max(now.chunk, held_.chunk);
  needs.channels = std::max(now.channels, held_.channels);
  needs.images = std::max(now.images, held_.images);
  if (needs == held_) return;
  held_ = {};
  arena_ = Arena(0);  // before more is taken
  const int size = operand_size();
  const int64_t sums = needs.images * needs.channels;
  Arena arena(
      size_t(3 * needs.stream * 4 + (3 * needs.operand + needs.input + sums) * size +
             needs.rows * int64_t(sizeof(HaltingState) + 4 * (2 + kernels::kScoreStride)) +
             team_.size() * (8 * needs.chunk + 4 * needs.channels + 16 * sums + 4 * needs.rows)) +
      (size_t{1} << 20));
  for (float** part : {&stream_, &next_stream_, &mean_}) *part = arena.take<float>(needs.stream);
  for (void** part : {&preactivated_, &hidden_, &narrow_}) {
    *part = arena.take<std::byte>(needs.operand * size);
  }
  padded_ = arena.take<std::byte>(needs.input * size);
  states_ = arena.take<HaltingState>(needs.rows);
  remainders_ = arena.take<float>(needs.rows);
  scores_ = arena.take<float>(needs.rows);
  tap_values_ = arena.take<float>((needs.rows + 1) * kernels::kScoreStride);
  head_input_ = arena.take<std::byte>(sums * size);
  for (Scratch& scratch : scratch_) {
    scratch.normalised = arena.take<float>(needs.chunk);
    scratch.narrow = arena.take<float>(needs.chunk);
    scratch.sums = arena.take<float>(needs.channels);
    scratch.halted = arena.take<double>(sums);
    scratch.active = arena.take<double>(sums);
    scratch.global = arena.take<double>(needs.images);
    scratch.halting = arena.take<int32_t>(needs.rows);
  }
  arena_ = std::move(arena);
  rows_.reserve(int(needs.rows));
  held_ = needs;
}

ImageResult Session::empty_result() const {
  ImageResult result;
  result.logits.resize(size_t(plan_->spec.classes));
  for (size_t block = 0; block < geometry_->blocks.size(); ++block) {
    const Grid& grid = geometry_->blocks[block].grid;
    const int units = plan_->spec.units[block];
    result.blocks.push_back({Map(grid.size.height, grid.size.width, float(units)),
                             std::vector<int32_t>(size_t(grid.positions()), units)});
  }
  return result;
}

void Session::check_prescribed(int count, Size size) const {
  if (prescribed_.empty()) return;
  const ModelSpec& spec = plan_->spec;
  SACT_ASSERT(prescribed_.size() == size_t(spec.blocks()));
  for (int block = 0; block < spec.blocks(); ++block) {
    SACT_ASSERT(int64_t(prescribed_[size_t(block)].size()) ==
                count * spec.block_size(block, size).positions());
  }
}

std::vector<ImageResult> Session::run(const std::vector<float>& planes, int count, Size size) {
  validate_image_size(size);
  SACT_ASSERT(count > 0 && int64_t(planes.size()) == 3 * count * size.positions());
  check_prescribed(count, size);
  if (profiling_) profile_.assign(size_t(plan_->layers), {});
  new_geometry_ = false;
  std::vector<ImageResult> results(static_cast<size_t>(count));
  const int groups = (count + group_size(size) - 1) / group_size(size);
  for (int group = 0; group < groups; ++group) {
    const int first = int(int64_t(count) * group / groups);
    const int last = int(int64_t(count) * (group + 1) / groups);
    prepare(last - first, size);
    first_image_ = first;
    run_group(planes.data() + 3 * first * size.positions(),
              std::span(results).subspan(size_t(first), size_t(last - first)));
  }
  for (ImageResult& result : results) result.flops = result_flops(plan_->spec, size, result.blocks);
  if (profiling_ && new_geometry_) log_profile(count, size);
  return results;
}

void Session::log_profile(int count, Size size) const {
  if (log_level() < LogLevel::kVerbose) return;
  log_verbose("{} of {}x{}, times of the first thread:", counted(count, "image"), size.height,
              size.width);
  for (const DescribedLayer& layer : described_layers(*plan_, profile_)) {
    log_verbose("{}", line_of(layer, *plan_));
  }
}

void Session::run_group(const float* planes, Results results) {
  std::fill(results.begin(), results.end(), empty_result());
  team_.run(team_.size(), [&](int thread) { work(thread, planes, results); });
}

void Session::work(int thread, const float* planes, Results results) {
  run_stem(thread, planes);
  for (int block = 0; block < plan_->spec.blocks(); ++block) run_block(thread, block, results);
  run_head(thread, results);
}

int64_t Session::operand_stride(int channels) const {
  return row_stride(channels, operand_size());
}

Session::Share Session::share_of(int count, int thread) const {
  const int64_t parts = team_.size();
  return {int(count * int64_t(thread) / parts), int(count * int64_t(thread + 1) / parts)};
}

int Session::chunk_rows(int row_bytes) const {
  constexpr int kCacheBytes = 448 << 10, kMost = 252;
  return std::clamp(kCacheBytes / row_bytes, 4 * plan_->table.tile_rows, kMost);
}

Split Session::split_of(int rows, const Layer& layer) const {
  // Every part of rows reads all weights of its columns: it shall have a few tiles of rows to use
  // them for.
  constexpr int kLeastTiles = 4;
  const int threads = team_.size();
  const int most = std::max(rows / (kLeastTiles * plan_->table.tile_rows), 1);
  if (threads <= most) return {threads, 1, threads == 1 ? "one thread" : "many rows"};
  for (int columns = 2; columns <= std::min(threads, layer.weights.panels()); ++columns) {
    if (threads % columns == 0 && threads / columns <= most) {
      return {threads / columns, columns, "few rows"};
    }
  }
  return {threads, 1, "few rows, but few columns too"};
}

kernels::RowProduct Session::product_of(const Layer& layer) const {
  kernels::RowProduct call;
  call.taps = layer.weights.taps;
  call.depth = layer.weights.depth;
  call.weights = layer.weights.data;
  call.bias = layer.bias.data();
  call.last_panel = layer.weights.panels();
  call.columns = layer.weights.columns;
  return call;
}

const void* Session::first_weights(int thread, const Layer& layer, Split split) const {
  const int64_t panels = layer.weights.panels(), part = thread % split.column_parts;
  return layer.weights.panel(int(panels * part / split.column_parts));
}

void Session::note(int thread, int layer, int64_t rows, Split split, kernels::TapChoice taps) {
  if (!profiling_ || thread != 0) return;
  LayerProfile& profile = profile_[size_t(layer)];
  profile.rows += rows;
  profile.split = split;
  profile.taps = taps;
}

void Session::multiply_alone(int thread, const Layer& layer, const kernels::RowProduct& call,
                             bool to_f32) {
  const Timer timer(*this, thread, layer.index);
  const auto& functions = plan_->functions();
  (to_f32 ? functions.product_to_f32 : functions.product)(call);
}

void Session::multiply(int thread, const Layer& layer, const kernels::RowProduct& call,
                       bool to_f32) {
  const Split split = split_of(call.rows, layer);
  if (profiling_) {
    note(thread, layer.index, call.rows, split, kernels::tap_choice(call, plan_->type));
  }
  const int row_part = thread / split.column_parts, column_part = thread % split.column_parts;
  const int64_t rows = call.rows, panels = call.last_panel;
  const int output_size = to_f32 ? 4 : operand_size();
  kernels::RowProduct mine = call;
  mine.first_panel = int(panels * column_part / split.column_parts);
  mine.last_panel = int(panels * (column_part + 1) / split.column_parts);
  const Share share{int(rows * row_part / split.row_parts),
                    int(rows * (row_part + 1) / split.row_parts)};
  for_each_chunk(share, chunk_rows(call.depth * operand_size()), [&](Share chunk) {
    multiply_alone(thread, layer,
                   rows_of(mine, chunk.first, chunk.last, operand_size(), output_size), to_f32);
  });
}

void Session::normalise(const Affine& norm, const float* input, const int32_t* rows, int count,
                        void* output) const {
  const int channels = int(norm.scale.size());
  kernels::RowNorm call;
  call.count = count;
  call.input = input;
  call.input_stride = row_stride(channels, 4);
  call.rows = rows;
  call.scale = norm.scale.data();
  call.shift = norm.shift.data();
  call.output = output;
  call.output_stride = operand_stride(channels);
  call.channels = channels;
  plan_->functions().norm(call);
}

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

/// A later bottleneck unit, where the active set says. Where rows are enough for all threads, each
/// takes its rows through conv2, conv3 and their scores in chunks that stay in its cache.
void Session::run_bottleneck(int thread, int block, int number) {
  const Unit& unit = plan_->blocks[size_t(block)][size_t(number)];
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int channels = plan_->spec.block_channels(block), width = plan_->spec.block_width(block);
  const RowList &active = rows_.active(), &dilated = rows_.dilated();
  const int size = operand_size();
  Scratch& scratch = scratch_[size_t(thread)];

  kernels::RowProduct conv1 = product_of(unit.conv1);
  conv1.rows = int(dilated.size());
  conv1.input_stride = operand_stride(channels);
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = dilated.data();
  conv1.relu = true;
  const Split split1 = split_of(conv1.rows, unit.conv1);
  const Split split2 = split_of(int(active.size()), unit.conv2);
  conv1.next_weights = first_weights(thread, unit.conv2, split2);
  if (split1.column_parts == 1) {
    note(thread, unit.conv1.index, conv1.rows, split1, kernels::kOneTap);
    for_each_chunk(share_of(conv1.rows, thread), chunk_rows(channels * 4), [&](Share chunk) {
      {
        const Timer timer(*this, thread, unit.conv1.index);
        normalise(unit.norm1, stream_, dilated.data() + chunk.first, chunk.count(),
                  scratch.normalised);
      }
      kernels::RowProduct call = conv1;
      call.rows = chunk.count();
      call.input = scratch.normalised;
      call.output_rows = dilated.data() + chunk.first;
      multiply_alone(thread, unit.conv1, call, false);
    });
  } else {
    const Share share = share_of(conv1.rows, thread);
    normalise(unit.norm1, stream_, dilated.data() + share.first, share.count(),
              offset(preactivated_, share.first * conv1.input_stride, size));
    team_.meet();
    conv1.input = preactivated_;
    multiply(thread, unit.conv1, conv1, false);
  }
  team_.meet();

  kernels::RowProduct conv2 = product_of(unit.conv2);
  conv2.rows = int(active.size());
  conv2.input = hidden_;
  conv2.input_stride = operand_stride(width);
  conv2.input_rows = b.neighbours.data();
  conv2.list = active.data();
  conv2.zero_row = b.grid.zero_row();
  conv2.output_stride = operand_stride(width);
  conv2.relu = true;
  kernels::RowProduct conv3 = product_of(*unit.conv3);
  conv3.rows = conv2.rows;
  conv3.input_stride = operand_stride(width);
  set_residual(conv3, block, number);
  conv2.next_weights = first_weights(thread, *unit.conv3, split2);
  if (size_t(number) + 1 < plan_->blocks[size_t(block)].size()) {
    const Unit& next = plan_->blocks[size_t(block)][size_t(number) + 1];
    conv3.next_weights = first_weights(thread, next.conv1, split1);
  }
  if (split2.column_parts == 1) {
    if (profiling_) {
      note(thread, unit.conv2.index, conv2.rows, split2, kernels::tap_choice(conv2, plan_->type));
      note(thread, unit.conv3->index, conv3.rows, split2, kernels::kOneTap);
    }
    conv2.output = scratch.narrow;
    conv3.input = scratch.narrow;
    for_each_chunk(share_of(conv2.rows, thread), chunk_rows(channels * 4), [&](Share chunk) {
      kernels::RowProduct call2 = conv2, call3 = conv3;
      call2.rows = call3.rows = chunk.count();
      call2.list += chunk.first;
      call3.output_rows += chunk.first;
      multiply_alone(thread, unit.conv2, call2, false);
      multiply_alone(thread, *unit.conv3, call3, true);
      if (unit.score) add_to_scores(thread, block, *unit.score, chunk);
    });
  } else {
    conv2.output = narrow_;
    multiply(thread, unit.conv2, conv2, false);
    team_.meet();
    conv3.input = narrow_;
    multiply(thread, *unit.conv3, conv3, true);
    team_.meet();
    if (unit.score) add_to_scores(thread, block, *unit.score, share_of(conv3.rows, thread));
  }
}

/// A later unit of two 3x3 convolutions. The first reads neighbours of neighbours: their norms are
/// taken everywhere.
void Session::run_basic(int thread, int block, int number) {
  const Unit& unit = plan_->blocks[size_t(block)][size_t(number)];
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int channels = plan_->spec.block_channels(block), width = plan_->spec.block_width(block);
  const RowList &active = rows_.active(), &dilated = rows_.dilated();
  const Share share = share_of(b.grid.rows(), thread);
  normalise(unit.norm1, stream_ + share.first * row_stride(channels, 4), nullptr, share.count(),
            offset(preactivated_, share.first * operand_stride(channels), operand_size()));
  if (thread == 0) {
    clear_row(preactivated_, b.grid.zero_row(), operand_stride(channels), operand_size());
  }
  team_.meet();
  kernels::RowProduct conv1 = product_of(unit.conv1);
  conv1.rows = int(dilated.size());
  conv1.input = preactivated_;
  conv1.input_stride = operand_stride(channels);
  conv1.input_rows = b.neighbours.data();
  conv1.list = dilated.data();
  conv1.zero_row = b.grid.zero_row();
  conv1.output = hidden_;
  conv1.output_stride = operand_stride(width);
  conv1.output_rows = dilated.data();
  conv1.relu = true;
  multiply(thread, unit.conv1, conv1, false);
  team_.meet();
  kernels::RowProduct conv2 = product_of(unit.conv2);
  conv2.rows = int(active.size());
  conv2.input = hidden_;
  conv2.input_stride = operand_stride(width);
  conv2.input_rows = b.neighbours.data();
  conv2.list = active.data();
  conv2.zero_row = b.grid.zero_row();
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
