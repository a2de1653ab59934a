// What a session puts on its stream for a network.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "engine/cuda/session.h"
#include "halting/halting.h"

namespace sact::engine {
namespace {

template <typename Number>
Number* at(std::byte* base, int64_t offset) {
  return reinterpret_cast<Number*>(base + offset);
}

/// The fewest bytes that a product on so many rows has to move.
double bytes_moved(const cuda::Product& call, cuda::Element type, int64_t rows) {
  const double element = bytes_of(type);
  // Windows without a list read every row; of those in lists, at least as many as they write.
  const bool all = !call.rows.list && (call.kernel > 1 || call.stem);
  const double read =
      double(all ? call.from.rows() : rows) * (call.stem ? cuda::kStemChannels : call.depth);
  double written = double(rows) * call.columns;
  if (call.add) {  // the stream is read, too
    const int mean = !call.mean ? 0 : call.mean_begins ? 1 : 2;
    written *= 2 + mean - (call.mean && call.mean_in_place ? 1 : 0);
  }
  const double weights = double(call.taps()) * call.depth * call.columns;
  return element * (read + written + weights);
}

}  // namespace

int CudaSession::start_product(const DeviceLayer& layer, const cuda::Product& call) {
  if (tuning_) plan_->shapes.measure(call, plan_->type, stream_, launch_);
  const cuda::Launch launch = plan_->shapes.launch_for(call, launch_);
  if (!timing_) return cuda::run(call, plan_->type, launch);
  int32_t rows = call.rows.most;
  if (call.rows.count) {
    stream_.wait();
    expect(cudaMemcpy(&rows, call.rows.count, sizeof rows, cudaMemcpyDeviceToHost), "a count");
  }
  TimedLayer timed{&layer, rows, bytes_moved(call, plan_->type, rows), {}, {}};
  // All is on the stream before it begins, so that the host takes no part of the time.
  constexpr int64_t kCycles = 50'000;
  cuda::run(cuda::Pause{kCycles}, launch);
  timed.begin.record(stream_);
  const int planes = cuda::run(call, plan_->type, launch);
  timed.end.record(stream_);
  timed_.push_back(std::move(timed));
  return planes;
}

/// The last product of a unit, which leaves the scores of the new states where it can.
void CudaSession::start_residual(BlockState& state, const DeviceUnit& unit, cuda::Product call) {
  if (unit.score && settings_.scores) {
    call.score_panels = unit.score->panels;
    call.score_planes = space_.score_planes;
  }
  state.score_planes = start_product(unit.layers.back(), call);
}

/// For a kernel that may follow a copy: only kernels let others begin before they have ended.
cuda::Launch CudaSession::after_copy() const {
  cuda::Launch launch = launch_;
  launch.overlap = false;
  return launch;
}

/// What enters a block and what leaves it change places with every block.
const void* CudaSession::features_at() const {
  return space_.streams[plan_->spec.blocks() % 2];
}

void CudaSession::start_network(Entry entry) {
  void* const streams[] = {space_.streams[0], space_.streams[1]};
  if (budget_) {
    expect(
        cudaMemsetAsync(space_.spent, 0, size_t(geometry_.images) * sizeof(int64_t), stream_.get()),
        "the budget");
  }
  if (ends_.features_stay) {
    expect(cudaMemsetAsync(space_.results + space_.logits_at, 0, sizeof(int32_t), stream_.get()),
           "the features");
  }
  start_stem(entry);
  for (int block = 0; block < plan_->spec.blocks(); ++block) start_block(block);
  start_head();
  std::copy(std::begin(streams), std::end(streams), space_.streams);
}

bool CudaSession::stem_on_tensor_cores() const {
  return plan_->stem && plan_->stem->panels && launch_.products != cuda::Products::kPlain &&
         cuda::padded_for_stem(geometry_.stem).rows() / 2 < cuda::kMostGatheredRows;
}

/// Leaves what enters block 1 in the first stream.
void CudaSession::start_stem(Entry entry) {
  if (entry == Entry::kPlaced) return;
  cuda::Enter enter;
  enter.grid = geometry_.input;
  enter.channels = plan_->stem ? 3 : plan_->spec.stem_channels();
  enter.input = space_.upload;
  enter.planes = entry == Entry::kPlanes;
  if (stem_on_tensor_cores()) enter.padded = cuda::padded_for_stem(geometry_.stem);
  enter.output = plan_->stem ? space_.input : space_.streams[0];
  cuda::run(enter, plan_->type, after_copy());
  if (!plan_->stem) return;
  const auto steps = stem_of(plan_->spec);
  cuda::Product call = product_of(*plan_->stem, geometry_.input, geometry_.stem, space_.input);
  if (stem_on_tensor_cores()) {
    call.stem = true;
    call.from = enter.padded;
  } else {
    call.panels = nullptr;
  }
  call.output = space_.streams[steps->pool ? 1 : 0];
  start_product(*plan_->stem, call);
  if (!steps->pool) return;
  cuda::Pool pool;
  pool.from = geometry_.stem;
  pool.to = geometry_.first;
  pool.top = steps->pool->padding_before(geometry_.stem.height);
  pool.left = steps->pool->padding_before(geometry_.stem.width);
  pool.channels = plan_->stem->columns;
  pool.input = space_.streams[1];
  pool.output = space_.streams[0];
  put(pool);
}

cuda::RowSet CudaSession::rows_in(Domain domain, const BlockState& state) const {
  const int most = geometry_.blocks[size_t(state.number)].rows();
  if (!state.counts || state.dense) return {nullptr, state.counts, most};
  return domain == Domain::kDilated ? cuda::RowSet{space_.reached_list, state.counts + 1, most}
                                    : cuda::RowSet{space_.active_list, state.counts, most};
}

bool CudaSession::runs_dense(int block) const {
  return plan_->spec.adaptive() &&
         settings_.runs_dense(geometry_.blocks[size_t(block)], launch_.multiprocessors);
}

/// What enters a block lies in the first stream, and so does what leaves it.
void CudaSession::start_block(int block) {
  const ModelSpec& spec = plan_->spec;
  const auto& units = plan_->blocks[size_t(block)];
  const cuda::GridShape& grid = geometry_.blocks[size_t(block)];
  BlockState state;
  state.number = block;
  state.entered = space_.streams[0];
  state.stream = space_.streams[1];
  state.mean = space_.streams[2];
  state.dense = runs_dense(block);
  const bool keeps_mean = spec.adaptive() && units.size() > 1;
  if (spec.adaptive()) {
    state.halting = space_.halting;
    state.halting.ponder = at<float>(space_.results, space_.ponder_at[size_t(block)]);
    state.halting.units = at<int32_t>(space_.results, space_.units_at[size_t(block)]);
    const int64_t bands = int64_t(grid.images) * cuda::bands_of(grid.positions());
    cuda::run(cuda::StartHalting{state.halting, grid.rows(), space_.halted_sums,
                                 bands * spec.block_channels(block), space_.counts,
                                 2 * int(units.size())},
              ends_.input_is_placed ? after_copy() : launch_);
  }
  for (int number = 0; number < int(units.size()); ++number) {
    const DeviceUnit& unit = units[size_t(number)];
    if (number == 0) {
      unit.bottleneck() ? start_first_bottleneck(state, unit) : start_first_basic(state, unit);
    } else {
      unit.bottleneck() ? start_bottleneck(state, unit, number) : start_basic(state, unit, number);
    }
    if (spec.adaptive()) start_halting(state, unit, number);
  }
  if (keeps_mean) {
    put(cuda::Settle{grid.rows(), spec.block_channels(block), int(units.size()),
                     state.halting.remainders, state.halting.units, state.mean, state.stream});
  }
  std::swap(space_.streams[0], space_.streams[1]);
}

/// The first unit of a block is evaluated everywhere; what has a stride leads to the block's grid.
void CudaSession::start_first_bottleneck(BlockState& state, const DeviceUnit& unit) {
  SACT_ASSERT(unit.shortcut);
  const cuda::GridShape& before = geometry_.before(state.number);
  const cuda::GridShape& grid = geometry_.blocks[size_t(state.number)];
  const cuda::GridShape& between = unit.layers[0].stride > 1 ? grid : before;
  cuda::Product conv1 = product_of(unit.layers[0], before, between, state.entered);
  conv1.scale = unit.preactivation.scale;
  conv1.shift = unit.preactivation.shift;
  conv1.packed_norm = unit.preactivation.packed;
  conv1.output = space_.hidden;
  start_product(unit.layers[0], conv1);
  cuda::Product conv2 = product_of(unit.layers[1], between, grid, space_.hidden);
  conv2.output = space_.narrow;
  start_product(unit.layers[1], conv2);
  cuda::Product shortcut = product_of(*unit.shortcut, before, grid, state.entered);
  shortcut.scale = unit.preactivation.scale;
  shortcut.shift = unit.preactivation.shift;
  shortcut.packed_norm = unit.preactivation.packed;
  shortcut.output = state.stream;
  start_product(*unit.shortcut, shortcut);
  cuda::Product conv3 = product_of(unit.layers[2], grid, grid, space_.narrow);
  conv3.output = state.stream;
  conv3.add = true;
  conv3.relu = unit.relu;
  start_residual(state, unit, conv3);
}

/// The same with two 3x3 convolutions, whose operands are normalised before.
void CudaSession::start_first_basic(BlockState& state, const DeviceUnit& unit) {
  const cuda::GridShape& before = geometry_.before(state.number);
  const cuda::GridShape& grid = geometry_.blocks[size_t(state.number)];
  const void* operands = state.entered;
  if (unit.preactivation.scale) {
    put(cuda::Normalise{before.rows(), unit.layers[0].depth, state.entered,
                        unit.preactivation.scale, unit.preactivation.shift, space_.preactivated});
    operands = space_.preactivated;
  }
  cuda::Product conv1 = product_of(unit.layers[0], before, grid, operands);
  conv1.output = space_.hidden;
  start_product(unit.layers[0], conv1);
  if (unit.shortcut) {
    cuda::Product shortcut = product_of(*unit.shortcut, before, grid, operands);
    shortcut.output = state.stream;
    start_product(*unit.shortcut, shortcut);
  } else {  // the grids are the same
    const size_t bytes =
        size_t(grid.rows()) * size_t(unit.layers[1].columns) * size_t(bytes_of(plan_->type));
    expect(cudaMemcpyAsync(state.stream, state.entered, bytes, cudaMemcpyDeviceToDevice,
                           stream_.get()),
           "a shortcut");
  }
  cuda::Product conv2 = product_of(unit.layers[1], grid, grid, space_.hidden);
  conv2.output = state.stream;
  conv2.add = true;
  conv2.relu = unit.relu;
  const cuda::Launch usual = std::exchange(launch_, after_copy());
  start_residual(state, unit, conv2);
  launch_ = usual;
}

void CudaSession::set_residual(cuda::Product& call, const BlockState& state, const DeviceUnit& unit,
                               int number) const {
  call.output = state.stream;
  call.add = true;
  call.relu = unit.relu;
  if (!plan_->spec.adaptive()) return;
  call.mean = state.mean;
  call.remainders = state.halting.remainders;
  if (state.dense) call.active = state.halting.active;
  call.mean_begins = number == 1;
  call.mean_in_place = number + 1 == plan_->spec.units[size_t(state.number)];
}

void CudaSession::start_bottleneck(BlockState& state, const DeviceUnit& unit, int number) {
  const cuda::GridShape& grid = geometry_.blocks[size_t(state.number)];
  cuda::Product conv1 = product_of(unit.layers[0], grid, grid, state.stream);
  conv1.rows = rows_in(unit.layers[0].domain, state);
  conv1.scale = unit.preactivation.scale;
  conv1.shift = unit.preactivation.shift;
  conv1.packed_norm = unit.preactivation.packed;
  conv1.output = space_.hidden;
  start_product(unit.layers[0], conv1);
  cuda::Product conv2 = product_of(unit.layers[1], grid, grid, space_.hidden);
  conv2.rows = rows_in(unit.layers[1].domain, state);
  conv2.output = space_.narrow;
  conv2.output_by_index = true;
  start_product(unit.layers[1], conv2);
  cuda::Product conv3 = product_of(unit.layers[2], grid, grid, space_.narrow);
  conv3.rows = conv2.rows;
  conv3.input_by_index = true;
  set_residual(conv3, state, unit, number);
  start_residual(state, unit, conv3);
}

void CudaSession::start_basic(BlockState& state, const DeviceUnit& unit, int number) {
  const cuda::GridShape& grid = geometry_.blocks[size_t(state.number)];
  const void* operands = state.stream;
  if (unit.preactivation.scale) {
    put(cuda::Normalise{grid.rows(), unit.layers[0].depth, state.stream, unit.preactivation.scale,
                        unit.preactivation.shift, space_.preactivated});
    operands = space_.preactivated;
  }
  cuda::Product conv1 = product_of(unit.layers[0], grid, grid, operands);
  conv1.rows = rows_in(unit.layers[0].domain, state);
  conv1.output = space_.hidden;
  start_product(unit.layers[0], conv1);
  cuda::Product conv2 = product_of(unit.layers[1], grid, grid, space_.hidden);
  conv2.rows = rows_in(unit.layers[1].domain, state);
  set_residual(conv2, state, unit, number);
  start_residual(state, unit, conv2);
}

/// The rule after a unit, and the rows of the next.
void CudaSession::start_halting(BlockState& state, const DeviceUnit& unit, int number) {
  const ModelSpec& spec = plan_->spec;
  const cuda::GridShape& grid = geometry_.blocks[size_t(state.number)];
  const int32_t* active_count = state.counts;
  cuda::Halt halt;
  halt.grid = grid;
  halt.rows = state.halting;
  halt.number = number;
  halt.threshold = halting_threshold(spec.epsilon);
  halt.score_floor = float(spec.score_floor);
  halt.active_count = active_count;
  halt.last = !unit.score;
  if (!prescribed_at_.empty()) halt.prescribed = prescribed_at_[size_t(state.number)];
  if (unit.score) {
    cuda::Scores scores;
    scores.grid = grid;
    scores.channels = spec.block_channels(state.number);
    scores.input = state.stream;
    scores.active = state.halting.active;
    scores.reached = state.dense ? nullptr : state.halting.reached;
    scores.active_count = active_count;
    scores.taps = unit.score->taps;
    scores.tap_shifts = unit.score->tap_shifts;
    scores.global = unit.score->global;
    scores.halted_sums = space_.halted_sums;
    scores.tap_values = space_.tap_values;
    scores.band_sums = space_.band_sums;
    scores.planes = state.score_planes > 0 ? space_.score_planes : nullptr;
    scores.plane_count = state.score_planes;
    scores.panels = unit.score->panels;
    put(scores);
    halt.shift = double(unit.score->shift) + halting_.shift;
    halt.tap_values = unit.score->taps ? space_.tap_values : nullptr;
    halt.band_sums = space_.band_sums;
    const bool tiles = spec.halting == Halting::kSact && spec.tile > 1;
    if (tiles || budget_) {
      halt.scores = space_.scores;
      cuda::run_scores(halt, launch_);
      if (tiles) {
        cuda::run(cuda::AverageTiles{grid, spec.tile, active_count, space_.scores}, launch_);
      }
      if (budget_) {
        const HardBudget::Terms terms = budget_->terms(state.number, number);
        cuda::run(cuda::Limit{grid, state.halting, terms.threshold, terms.group_side,
                              terms.next_unit.active, terms.next_unit.dilated, terms.next_unit.once,
                              terms.allowance, space_.spent, active_count, space_.scores},
                  launch_);
      }
    }
  }
  if (state.dense && unit.score) halt.going_on = space_.counts + 2 * number;
  cuda::run(halt, launch_);
  if (!unit.score) return;
  state.dense ? void(state.counts = halt.going_on) : start_lists(state, number);
}

void CudaSession::start_lists(BlockState& state, int number) {
  cuda::Lists lists;
  lists.grid = geometry_.blocks[size_t(state.number)];
  lists.active = state.halting.active;
  lists.reached = state.halting.reached;
  lists.part_counts = space_.part_counts;
  lists.active_list = space_.active_list;
  lists.reached_list = space_.reached_list;
  lists.before = state.counts;
  lists.counts = space_.counts + 2 * number;
  cuda::run(lists, launch_);
  state.counts = lists.counts;
}

void CudaSession::start_head() {
  const cuda::GridShape& grid = geometry_.blocks.back();
  const int channels = plan_->spec.block_channels(plan_->spec.blocks() - 1);
  auto* results = at<float>(space_.results, space_.logits_at);
  if (ends_.features_stay) {
    put(cuda::CheckFinite{int64_t(grid.rows()) * channels, space_.streams[0],
                          at<int32_t>(space_.results, space_.logits_at)});
    return;
  }
  if (!plan_->head) {
    put(cuda::Leave{int64_t(grid.rows()) * channels, space_.streams[0], results});
    return;
  }
  const DeviceHead& head = *plan_->head;
  put(cuda::PoolAll{grid, channels, space_.streams[0], head.norm.scale, head.norm.shift,
                    space_.means});
  cuda::run(cuda::Linear{grid.images, head.depth, head.columns, space_.means, head.weights,
                         head.bias, results},
            launch_);
}

}  // namespace sact::engine
