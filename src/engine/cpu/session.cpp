#include "engine/cpu/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/flops.h"

namespace sact::engine {
namespace {

/// How many bytes the streams of images that run together have. That of block 1 is the largest; of
/// more images than fit a part of the third cache it would be read from memory time and again. With
/// fewer, weights are read once more for every group, and tiles of small maps are too few to be
/// worth their weights.
int64_t group_bytes() {
  constexpr int64_t kLeast = 4 << 20, kMost = 26 << 20;
  return std::clamp<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE) / 8, kLeast, kMost);
}

}  // namespace

CpuSession::CpuSession(std::shared_ptr<const Plan> plan, int threads, const HaltingControl& halting)
    : CpuSession(std::move(plan), std::make_shared<ThreadTeam>(threads), halting) {}

CpuSession::CpuSession(std::shared_ptr<const Plan> plan, std::shared_ptr<ThreadTeam> team,
                       const HaltingControl& halting)
    : LayerTeam(std::move(team), plan->table, plan->type),
      plan_(std::move(plan)),
      halting_(halting),
      scratch_(size_t(team_->size())) {}

void CpuSession::set_halting(const HaltingControl& halting) {
  if (halting.shift == halting_.shift && halting.hard_budget == halting_.hard_budget) return;
  halting_ = halting;
  geometry_ = nullptr;  // the budget is made with it
}

int CpuSession::group_size(Size size) const {
  const ModelSpec& spec = plan_->spec;
  const int64_t bytes = spec.block_size(0, size).positions() * spec.block_channels(0) * 4;
  return int(std::max<int64_t>(1, group_bytes() / bytes));
}

/// Units of two 3x3 convolutions read other rows besides: theirs are plain.
HiddenRows CpuSession::hidden_rows() const {
  const bool bottleneck = plan_->blocks[0][0].layers[0].kernel == 1;
  return bottleneck && plan_->functions().likes_borders ? HiddenRows::kBordered
                                                        : HiddenRows::kPlain;
}

int CpuSession::groups_of(int count, Size size) const {
  return (count + group_size(size) - 1) / group_size(size);
}

void CpuSession::prepare(int count, Size size) {
  constexpr size_t kMostKnown = 8;
  if (geometry_ && geometry_->images == count && geometry_->image == size) return;
  geometry_ = nullptr;
  const auto known = std::find_if(geometries_.begin(), geometries_.end(), [&](const auto& g) {
    return g->images == count && g->image == size;
  });
  if (known == geometries_.end()) {
    expect_bytes(bytes_of_run(count, size), count, size);
    auto made = std::make_unique<const Geometry>(plan_->spec, count, size, hidden_rows());
    if (geometries_.size() == kMostKnown) geometries_.erase(geometries_.begin());
    geometries_.push_back(std::move(made));
    new_geometry_ = true;
  } else {
    std::rotate(known, known + 1, geometries_.end());
  }
  geometry_ = geometries_.back().get();
  try {
    take_memory(needs_of(count, size));
    choose_tiles();
    budget_.reset();
    if (halting_.limits_images() && plan_->spec.adaptive()) {
      budget_.emplace(plan_->spec, size, halting_.hard_budget);
      cumulative_.resize(size_t(held_.rows));
    }
  } catch (...) {
    geometry_ = nullptr;
    throw;
  }
  std::memset(padded_, 0,
              size_t(geometry_->input.elements()) * size_t(input_operands().rows.bytes));
  tile_scores_.clear();
  if (plan_->spec.halting == Halting::kSact && plan_->spec.tile > 1) {
    for (const Geometry::Block& block : geometry_->blocks) {
      tile_scores_.emplace_back(block.grid.size.height, block.grid.size.width);
    }
  }
}

CpuSession::Needs CpuSession::needs_of(int count, Size size) const {
  const ModelSpec& spec = plan_->spec;
  Needs needs;
  const int64_t first_rows = count * spec.block_size(0, size).positions();
  needs.rows = first_rows;
  if (plan_->stem) {
    needs.stream = count * spec.stem_size(size).positions() * row_stride(spec.stem_channels(), 4);
    needs.input = padded_images(stem_of(spec), count, size).elements();
  }
  needs.images = count;
  needs.outputs = int64_t(count) * spec.outputs();
  int64_t before = first_rows + 1;
  for (int b = 0; b < spec.blocks(); ++b) {
    const int in = spec.block_input_channels(b), out = spec.block_channels(b);
    const int width = spec.block_width(b);
    // Operands have a row of zeros at their end.
    const int64_t rows = count * spec.block_size(b, size).positions() + 1;
    needs.rows = std::max(needs.rows, rows - 1);
    needs.stream = std::max({needs.stream, before * row_stride(in, 4), rows * row_stride(out, 4)});
    needs.operand = std::max({needs.operand, before * operand_stride(std::max(in, width)),
                              rows * operand_stride(std::max(out, width))});
    if (hidden_rows() == HiddenRows::kBordered) {
      for (const Size& grid :
           {spec.block_size(std::max(b - 1, 0), size), spec.block_size(b, size)}) {
        needs.operand =
            std::max(needs.operand, BorderedRows{{count, grid}}.rows() * operand_stride(width));
      }
    }
    for (const int channels : {in, out}) {
      needs.chunk = std::max(needs.chunk, chunk_rows(channels * 4) * row_stride(channels, 4));
    }
    needs.channels = std::max<int64_t>(needs.channels, std::max(in, out));
    needs.transformed =
        std::max(needs.transformed, transformed_in(b, count, spec.block_size(b, size)));
    before = rows;
  }
  return needs;
}

CpuSession::Needs CpuSession::with_held(const Needs& now) const {
  Needs needs;
  needs.stream = std::max(now.stream, held_.stream);
  needs.operand = std::max(now.operand, held_.operand);
  needs.input = std::max(now.input, held_.input);
  needs.rows = std::max(now.rows, held_.rows);
  needs.chunk = std::max(now.chunk, held_.chunk);
  needs.channels = std::max(now.channels, held_.channels);
  needs.images = std::max(now.images, held_.images);
  needs.outputs = std::max(now.outputs, held_.outputs);
  needs.transformed = std::max(now.transformed, held_.transformed);
  return needs;
}

int64_t CpuSession::arena_bytes(const Needs& needs) const {
  const int64_t sums = needs.images * needs.channels;
  const int64_t means = needs.images * head_stride(int(needs.channels));
  return 4 * (3 * needs.stream + needs.outputs) + 3 * needs.operand * operand_size() +
         means * head_operands().rows.bytes + needs.input * input_operands().rows.bytes +
         needs.rows * int64_t(sizeof(HaltingState) + 4 * (2 + kernels::kScoreStride)) +
         team_->size() * (8 * needs.chunk + 4 * needs.channels + 16 * sums + 8 * needs.rows +
                          needs.transformed) +
         (int64_t{1} << 20);
}

int64_t CpuSession::bytes_of_run(int count, Size size) const {
  const ModelSpec& spec = plan_->spec;
  const int groups = groups_of(count, size);
  const int together = (count + groups - 1) / groups;
  const Needs needs = with_held(needs_of(together, size));
  int64_t positions = 0;  // of all blocks of an image, which results tell of
  for (int block = 0; block < spec.blocks(); ++block) {
    positions += spec.block_size(block, size).positions();
  }
  const int64_t results = positions * int64_t(sizeof(float) + sizeof(int32_t));
  const int64_t tile_lists = 2 * needs.rows * int64_t(sizeof(int32_t));
  return arena_bytes(needs) + ActiveRows::bytes(needs.rows) + tile_lists +
         Geometry::list_bytes(spec, together, size, hidden_rows()) + count * results;
}

void CpuSession::expect_bytes(int64_t bytes, int count, Size size) const {
  const std::string what =
      fmt::format("running {} of {}x{}", pluralize(count, "image"), size.height, size.width);
  sact::expect_memory(uint64_t(bytes), what, arena_.bytes());
}

void CpuSession::expect_memory(int count, Size size) const {
  expect_bytes(bytes_needed(count, size), count, size);
}

int64_t CpuSession::bytes_needed(int count, Size size) const {
  return 4 * int64_t(count) * input_channels() * size.positions() + bytes_of_run(count, size);
}

void CpuSession::take_memory(const Needs& now) {
  const Needs needs = with_held(now);
  if (needs == held_) return;
  held_ = {};
  arena_ = Arena(0);  // before more is taken
  const int size = operand_size();
  const int64_t sums = needs.images * needs.channels;
  const int64_t means = needs.images * head_stride(int(needs.channels));
  Arena arena{size_t(arena_bytes(needs))};
  for (float** part : {&stream_, &next_stream_, &mean_}) *part = arena.take<float>(needs.stream);
  // Kernels of whole numbers may read a line past the end of a row.
  constexpr int kLine = 64;
  for (void** part : {&preactivated_, &hidden_, &narrow_}) {
    *part = arena.take<std::byte>(needs.operand * size + kLine);
  }
  padded_ = arena.take<std::byte>(needs.input * input_operands().rows.bytes + kLine);
  states_ = arena.take<HaltingState>(needs.rows);
  remainders_ = arena.take<float>(needs.rows);
  scores_ = arena.take<float>(needs.rows);
  tap_values_ = arena.take<float>((needs.rows + 1) * kernels::kScoreStride);
  head_input_ = arena.take<std::byte>(means * head_operands().rows.bytes);
  head_output_ = arena.take<float>(needs.outputs);
  for (Scratch& scratch : scratch_) {
    scratch.normalised = arena.take<float>(needs.chunk);
    scratch.narrow = arena.take<float>(needs.chunk);
    scratch.sums = arena.take<float>(needs.channels);
    scratch.halted = arena.take<double>(sums);
    scratch.active = arena.take<double>(sums);
    scratch.global = arena.take<double>(needs.images);
    scratch.halting = arena.take<int32_t>(needs.rows);
    scratch.hidden = arena.take<int32_t>(needs.rows);
  }
  transformed_ = arena.take<std::byte>(team_->size() * needs.transformed);
  arena_ = std::move(arena);
  rows_.reserve(int(needs.rows));
  for (RowList* list : {&tiles_, &wide_tiles_}) list->reserve(size_t(needs.rows));
  held_ = needs;
}

ImageResult CpuSession::empty_result() const {
  ImageResult result;
  result.logits.resize(size_t(plan_->spec.outputs()));
  for (size_t block = 0; block < geometry_->blocks.size(); ++block) {
    const Grid& grid = geometry_->blocks[block].grid;
    const int units = plan_->spec.units[block];
    result.blocks.push_back({Map(grid.size.height, grid.size.width, float(units)),
                             std::vector<int32_t>(size_t(grid.positions()), units)});
  }
  return result;
}

void CpuSession::check_prescribed(int count, Size size) const {
  if (prescribed_.empty()) return;
  const ModelSpec& spec = plan_->spec;
  SACT_ASSERT(prescribed_.size() == size_t(spec.blocks()));
  for (int block = 0; block < spec.blocks(); ++block) {
    SACT_ASSERT(int64_t(prescribed_[size_t(block)].size()) ==
                count * spec.block_size(block, size).positions());
  }
}

std::vector<ImageResult> CpuSession::run(const InputView& input) {
  const int count = input.count;
  const Size size = input.size;
  if (plan_->stem) validate_image_size(size);
  SACT_ASSERT(input.complete() && input.channels == input_channels());
  SACT_ASSERT(plan_->stem || input.layout == InputLayout::kPixels);
  check_prescribed(count, size);
  start_profile(plan_->layers);
  new_geometry_ = false;
  std::vector<ImageResult> results(static_cast<size_t>(count));
  const int groups = groups_of(count, size);
  for (int group = 0; group < groups; ++group) {
    const int first = int(int64_t(count) * group / groups);
    const int last = int(int64_t(count) * (group + 1) / groups);
    prepare(last - first, size);
    first_image_ = first;
    run_group(input.part(first, last - first),
              std::span(results).subspan(size_t(first), size_t(last - first)));
  }
  set_flops(plan_->spec, size, results);
  if (profiling() && new_geometry_) log_profile(count, size);
  return results;
}

std::vector<LayerTime> CpuSession::time_layers(const InputView& input) {
  const bool before = profiling();
  set_profiling(true);
  run(input);
  set_profiling(before);
  std::vector<LayerTime> times;
  for (const DescribedLayer& layer : described_layers(*plan_, profile())) {
    const LayerProfile& profile = layer.profile;
    times.push_back({layer.name, profile.rows, layer.taps, layer.depth, layer.columns,
                     kernels::name_of(profile.taps.order), profile.split.row_parts,
                     profile.split.column_parts, profile.seconds});
  }
  return times;
}

detect::FeatureMap CpuSession::features(int image) const {
  SACT_ASSERT(!plan_->head && geometry_);
  const Grid& grid = geometry_->blocks.back().grid;
  const int channels = plan_->spec.block_channels(plan_->spec.blocks() - 1);
  SACT_ASSERT(image >= first_image_ && image < first_image_ + grid.images);
  const int64_t stride = row_stride(channels, 4);
  const int64_t first_row = int64_t(image - first_image_) * grid.positions();
  return {stream_ + first_row * stride, grid.size, channels, stride};
}

void CpuSession::log_profile(int count, Size size) const {
  if (log_level() < LogLevel::kVerbose) return;
  log_verbose("{} of {}x{}, times of the first thread:", pluralize(count, "image"), size.height,
              size.width);
  for (const DescribedLayer& layer : described_layers(*plan_, profile())) {
    log_verbose("{}", line_of(layer, *plan_));
  }
}

void CpuSession::run_group(const InputView& input, Results results) {
  std::fill(results.begin(), results.end(), empty_result());
  accounts_.assign(budget_ ? results.size() : 0, {});
  overflowed_.assign(plan_->type == kernels::DataType::kInt8 ? results.size() : 0, 0);
  stop_ = false;
  question_ = nullptr;
  team_->run(team_->size(), [&](int thread) { work(thread, input, results); });
  if (question_) std::rethrow_exception(std::exchange(question_, nullptr));
  if (stop_) throw Interrupted("the run was interrupted");
}

bool CpuSession::stopped(int thread) {
  if (!interrupted_) return false;
  if (thread == 0) {
    try {
      stop_ = interrupted_();
    } catch (...) {  // helpers must not be left waiting
      question_ = std::current_exception();
      stop_ = true;
    }
  }
  team_->barrier();  // and before the next question there is another
  return stop_;
}

void CpuSession::work(int thread, const InputView& input, Results results) {
  plan_->stem ? run_stem(thread, input) : enter_features(thread, input.values.data());
  for (int block = 0; block < plan_->spec.blocks(); ++block) {
    run_block(thread, block, results);
    if (stop_) return;
  }
  if (plan_->head) run_head(thread, results);  // otherwise the stream is what it gives
}

void CpuSession::make_operands(const PackedUnit& unit, int channels, const float* input,
                               const int32_t* rows, int count, void* output) const {
  const Affine* norm = unit.preactivation ? &*unit.preactivation : nullptr;
  kernels::RowNorm call;
  call.count = count;
  call.input = input;
  call.input_stride = row_stride(channels, 4);
  call.rows = rows;
  call.scale = norm ? norm->scale.data() : nullptr;
  call.shift = norm ? norm->shift.data() : nullptr;
  call.output = output;
  call.output_stride = operand_stride(channels);
  call.channels = channels;
  plan_->functions().norm(call);
}

}  // namespace sact::engine
