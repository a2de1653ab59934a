// The part of a session that decides where a block goes on.
#include <cmath>
#include <cstring>

#include "engine/cpu/session.h"

namespace sact::engine {

void CpuSession::start_halting(int thread, int block) {
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const int channels = plan_->spec.block_channels(block);
  const Share share = share_of(grid.rows(), thread);
  std::fill_n(states_ + share.first, share.count(), HaltingState{});
  std::fill_n(remainders_ + share.first, share.count(), HaltingState{}.remainder);
  std::fill_n(scratch_[size_t(thread)].halted, int64_t(grid.images) * channels, 0.0);
  std::fill_n(scratch_[size_t(thread)].active, int64_t(grid.images) * channels, 0.0);
  if (thread == 0) {
    std::fill_n(tap_values_ + int64_t(grid.zero_row()) * kernels::kScoreStride,
                kernels::kScoreStride, 0.0f);
  }
}

template <typename Work>
void CpuSession::for_each_image_part(const Grid& grid, int channels, const int32_t* rows, int count,
                                     const Work& work) const {
  for (int first = 0; first < count;) {
    const int image = grid.image_of(rows[first]);
    const int32_t end = (image + 1) * grid.positions();
    const int most = std::min(count, first + chunk_rows(channels * 4));
    int last = first;
    while (last < most && rows[last] < end) ++last;
    work(image, rows + first, last - first);
    first = last;
  }
}

/// What some of the active positions add: to the scores of their neighbours, and to the mean over
/// all positions.
void CpuSession::add_to_scores(int thread, int block, const PackedScore& score, Share share) {
  const Timer timer(*this, thread, score.index);
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const int channels = plan_->spec.block_channels(block);
  const int64_t stride = row_stride(channels, 4);
  const Scratch& scratch = scratch_[size_t(thread)];
  // A few hundred rows are summed in 32 bits, and such sums in 64.
  for_each_image_part(
      grid, channels, rows_.active().data() + share.first, share.count(),
      [&](int image, const int32_t* rows, int count) {
        std::fill_n(scratch.sums, channels, 0.0f);
        if (score.taps) {
          plan_->table.scores({count, stream_, stride, rows, score.taps, score.tap_shift.data(),
                               channels, tap_values_, scratch.sums});
        } else {
          plan_->table.sum({count, stream_, stride, rows, channels, scratch.sums});
        }
        double* sums = scratch.active + int64_t(image) * channels;
        for (int c = 0; c < channels; ++c) sums[c] += scratch.sums[c];
      });
}

/// The scores of the active positions, once all have added what they add.
void CpuSession::finish_scores(int thread, int block, const PackedScore& score) {
  const Geometry::Block& b = geometry_->blocks[size_t(block)];
  const int channels = plan_->spec.block_channels(block);
  Scratch& scratch = scratch_[size_t(thread)];
  const bool local = score.taps != nullptr;
  const size_t rows = rows_.active().size() + (local ? rows_.rim().size() : 0);
  note(thread, score.index, int64_t(rows), {team_->size(), 1, "one column"},
       local ? kernels::TapChoice{kernels::TapOrder::kRegisters, "one sweep for all taps"}
             : kernels::kOneTap);
  if (local) {  // halted neighbours of active positions count as they stand
    const Timer timer(*this, thread, score.index);
    const Share rim = share_of(int(rows_.rim().size()), thread);
    plan_->table.scores({rim.count(), stream_, row_stride(channels, 4),
                         rows_.rim().data() + rim.first, score.taps, score.tap_shift.data(),
                         channels, tap_values_, nullptr});
  }
  for (int image = 0; image < b.grid.images; ++image) {
    double sum = 0;
    double* active = scratch.active + int64_t(image) * channels;
    const double* halted = scratch.halted + int64_t(image) * channels;
    for (int c = 0; c < channels; ++c) {
      sum += (active[c] + halted[c]) * double(score.global[size_t(c)]);
      active[c] = 0;  // for the next unit
    }
    scratch.global[image] = sum / b.grid.positions();
  }
  team_->barrier();
  const Timer timer(*this, thread, score.index);
  const Share share = share_of(int(rows_.active().size()), thread);
  const float floor = float(plan_->spec.score_floor);
  int32_t image_end = 0;  // of the image that `global` is of
  float global = 0;
  for (int i = share.first; i < share.last; ++i) {
    const int32_t row = rows_.active()[size_t(i)];
    if (row >= image_end) {
      const int image = b.grid.image_of(row);
      image_end = (image + 1) * b.grid.positions();
      double sum = score.shift + halting_.shift;
      for (const Scratch& part : scratch_) sum += part.global[image];
      global = float(sum);
    }
    float total = global;
    if (local) {  // the row outside of the image has zeros
      const int32_t* neighbours = b.neighbours.data() + int64_t(row) * 9;
      for (int tap = 0; tap < 9; ++tap) {
        total += tap_values_[int64_t(neighbours[tap]) * kernels::kScoreStride + tap];
      }
    }
    scores_[row] = halting_score(1.0f / (1.0f + std::exp(-total)), floor);
  }
}

void CpuSession::average_scores(int block) {
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  Map& map = tile_scores_[size_t(block)];
  // A tile is active as a whole, so what the others hold does not matter.
  for (int image = 0; image < grid.images; ++image) {
    float* scores = scores_ + int64_t(image) * grid.positions();
    std::copy_n(scores, grid.positions(), map.values.begin());
    average_tiles(map, plan_->spec.tile);
    std::copy_n(map.values.begin(), grid.positions(), scores);
  }
}

/// Positions that an image cannot afford to keep get a score of 1.
void CpuSession::limit_scores(int thread, int block, int number) {
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const Share images = share_of(grid.images, thread);
  for (int image = images.first; image < images.last; ++image) {
    const int first = image * grid.positions(), last = first + grid.positions();
    for (int row = first; row < last; ++row) {
      cumulative_[size_t(row)] = states_[row].active ? states_[row].cumulative + scores_[row] : 1;
    }
    const auto cumulative = std::span(cumulative_).subspan(size_t(first), size_t(last - first));
    budget_->limit(block, number, cumulative, accounts_[size_t(image)]);
    for (int row = first; row < last; ++row) {
      if (states_[row].active && cumulative_[size_t(row)] == 1) scores_[row] = 1;
    }
  }
}

/// Up to now the mean of a position was its state, and nobody kept it.
void CpuSession::start_mean(int block, int32_t row) {
  const int channels = plan_->spec.block_channels(block);
  const int64_t place = row * row_stride(channels, 4);
  std::memcpy(mean_ + place, stream_ + place, size_t(channels) * sizeof(float));
}

/// A position halts after unit `number`: its state stays, in the output and in the result.
void CpuSession::finish_position(int block, int number, int32_t row, Results results) {
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const HaltingState& state = states_[row];
  const int image = grid.image_of(row);
  // The residual of the last unit went into the mean.
  const bool last_residual = number > 0 && number + 1 == plan_->spec.units[size_t(block)];
  if (state.remainder == 1 && !last_residual) start_mean(block, row);
  BlockResult& result = results[size_t(image)].blocks[size_t(block)];
  const size_t position = size_t(row - image * grid.positions());
  result.ponder_cost.values[position] = state.ponder_cost;
  result.units[position] = state.units;
}

/// The rule for every active position after unit `number`, and the active set of the next unit.
void CpuSession::halt(int thread, int block, int number, Results results) {
  const PackedUnit& unit = plan_->blocks[size_t(block)][size_t(number)];
  if (unit.score) {
    finish_scores(thread, block, *unit.score);
    if (!tile_scores_.empty()) {
      team_->barrier();
      if (thread == 0) average_scores(block);
      team_->barrier();
    }
    if (budget_) {
      team_->barrier();
      limit_scores(thread, block, number);
      team_->barrier();
    }
  }
  const Grid& grid = geometry_->blocks[size_t(block)].grid;
  const float threshold = halting_threshold(plan_->spec.epsilon);
  const Share share = share_of(int(rows_.active().size()), thread);
  const Scratch& scratch = scratch_[size_t(thread)];
  int halting = 0;
  for (int i = share.first; i < share.last; ++i) {
    const int32_t row = rows_.active()[size_t(i)];
    float score = unit.score ? scores_[row] : 1.0f;
    if (!prescribed_.empty()) {
      const int64_t in_batch = row + int64_t(first_image_) * grid.positions();
      // The least that leaves a remainder below 1: means are kept as with scores of the network.
      constexpr float kLeast = 0x1p-24f;
      score = number + 1 >= prescribed_[size_t(block)][size_t(in_batch)] ? 1.0f : kLeast;
    }
    HaltingState& state = states_[row];
    const bool no_mean = state.remainder == 1;
    halting_step(state, score, threshold);
    // After the first unit the next residual starts it.
    if (no_mean && state.remainder != 1 && number > 0) start_mean(block, row);
    remainders_[row] = state.remainder;
    rows_.keep(row, state.active);
    if (!state.active) scratch.halting[halting++] = row;
  }
  // Their states stay in the sums over positions.
  const int channels = plan_->spec.block_channels(block);
  for_each_image_part(
      grid, channels, scratch.halting, halting, [&](int image, const int32_t* rows, int count) {
        for (int i = 0; i < count; ++i) finish_position(block, number, rows[i], results);
        if (!unit.score) return;
        std::fill_n(scratch.sums, channels, 0.0f);
        plan_->table.sum({count, stream_, row_stride(channels, 4), rows, channels, scratch.sums});
        double* sums = scratch.halted + int64_t(image) * channels;
        for (int c = 0; c < channels; ++c) sums[c] += scratch.sums[c];
      });
  if (!unit.score) return;
  team_->barrier();
  if (thread == 0) {
    rows_.update();
    update_tiles(block);
  }
  team_->barrier();
}

}  // namespace sact::engine
