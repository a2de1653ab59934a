#include "engine/session.h"

#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/session_parts.h"
#include "model/flops.h"

namespace sact::engine {

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

}  // namespace sact::engine
