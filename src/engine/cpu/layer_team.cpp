#include "engine/cpu/layer_team.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace sact::engine {

LayerTeam::LayerTeam(std::shared_ptr<ThreadTeam> team, const kernels::Table& table,
                     kernels::DataType type)
    : team_(std::move(team)),
      table_(table),
      functions_(table.functions(type)),
      operands_(kernels::operand_type(type)),
      profiling_(log_level() >= LogLevel::kVerbose) {}

void LayerTeam::start_profile(int layers) {
  if (profiling_) profile_.assign(size_t(layers), {});
}

LayerTeam::Share LayerTeam::share_of(int count, int thread) const {
  const int64_t parts = team_->size();
  return {int(count * int64_t(thread) / parts), int(count * int64_t(thread + 1) / parts)};
}

int LayerTeam::chunk_rows(int row_bytes) const {
  constexpr int kCacheBytes = 448 << 10, kMost = 252;
  return std::clamp(kCacheBytes / row_bytes, 4 * functions_.tile_rows, kMost);
}

/// Every part of rows reads all weights of its columns: it shall have a few tiles of rows to use
/// them for.
Split LayerTeam::split_of(int rows, const PackedLayer& layer) const {
  constexpr int kLeastTiles = 4;
  const bool matrix_tiles = functions_.likes_borders;
  const int least = matrix_tiles ? least_matrix_tiles(rows, layer) : kLeastTiles;
  return split_of_at_most(rows / (least * functions_.tile_rows), layer);
}

/// Tile registers multiply so fast that ways count: those of weights from memory to each thread,
/// and those of the stream from one thread's cache to another's where a layer before or after is
/// shared in another way. Measured with weights that come from memory (docs/engine.md).
int LayerTeam::least_matrix_tiles(int rows, const PackedLayer& layer) {
  constexpr int kFewer = 1, kUsual = 4, kMore = 8;
  if (layer.kernel > 1) return kMore;  // most weights, and none of the stream
  constexpr int kStreamWays = 3;       // to conv3, its scores, and the next unit's norm
  const kernels::PackedWeights& weights = layer.weights;
  const int64_t stream_bytes = int64_t(rows) * std::max(weights.depth, weights.columns) * 4;
  return weights.bytes() <= kStreamWays * stream_bytes ? kFewer : kUsual;
}

Split LayerTeam::split_of_at_most(int parts, const PackedLayer& layer) const {
  const int threads = team_->size();
  const int most = std::max(parts, 1);
  if (threads <= most) return {threads, 1, threads == 1 ? "one thread" : "many rows"};
  Split split{threads, 1, "few rows, but few columns too"};
  for (int columns = 2; columns <= std::min(threads, layer.weights.panels()); ++columns) {
    if (threads % columns != 0) continue;
    split = {threads / columns, columns, "few rows"};
    if (split.row_parts <= most) break;  // otherwise as many parts of columns as there can be
  }
  return split;
}

kernels::TapChoice LayerTeam::taps_of(const kernels::RowProduct& call) const {
  if (call.taps > 1 && functions_.likes_borders) return kernels::kTapsInTiles;
  return kernels::tap_choice(call, operands_.type);
}

kernels::RowProduct LayerTeam::product_of(const PackedLayer& layer) {
  kernels::RowProduct call;
  call.taps = layer.weights.taps;
  call.depth = layer.weights.depth;
  call.weights = layer.weights.data;
  call.stored = layer.weights.stored;
  call.bias = layer.bias.data();
  call.scales = layer.scales.data();
  call.readable_past_rows = true;  // by what sessions take
  call.last_panel = layer.weights.panels();
  call.columns = layer.weights.columns;
  return call;
}

const void* LayerTeam::first_weights(int thread, const PackedLayer& layer, Split split) {
  return first_weights(thread, layer.weights, split);
}

const void* LayerTeam::first_weights(int thread, const kernels::PackedWeights& weights,
                                     Split split) {
  const int64_t panels = weights.panels(), part = thread % split.column_parts;
  return weights.panel(int(panels * part / split.column_parts));
}

void LayerTeam::note(int thread, int layer, int64_t rows, Split split, kernels::TapChoice taps) {
  if (!profiling_ || thread != 0) return;
  LayerProfile& profile = profile_[size_t(layer)];
  profile.rows += rows;
  profile.split = split;
  profile.taps = taps;
}

void LayerTeam::multiply_alone(int thread, const PackedLayer& layer,
                               const kernels::RowProduct& call, bool to_f32) {
  show_operands(layer, call);
  const Timer timer(*this, thread, layer.index);
  const kernels::TypedFunctions& functions = functions_of(layer);
  (to_f32 ? functions.product_to_f32 : functions.product)(call);
}

void LayerTeam::show_operands(const PackedLayer& layer, const kernels::RowProduct& call) const {
  if (!observer_ || call.first_panel > 0) return;  // whoever has the first columns does it
  SACT_ASSERT(layer.type() == kernels::DataType::kFloat32);
  std::vector<const float*> rows;
  for (int64_t i = 0; i < call.rows; ++i) {
    const int64_t position = call.list ? call.list[i] : i;
    for (int tap = 0; tap < call.taps; ++tap) {
      const int64_t row = call.input_rows ? call.input_rows[position * call.taps + tap] : position;
      if (row == call.zero_row) continue;
      rows.push_back(static_cast<const float*>(call.input) + row * call.input_stride);
    }
  }
  std::sort(rows.begin(), rows.end());  // windows overlap
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  observer_->see(layer.name, rows, call.depth);
}

void LayerTeam::multiply(int thread, const PackedLayer& layer, const kernels::RowProduct& call,
                         bool to_f32) {
  const Split split = split_of(call.rows, layer);
  if (profiling_) {
    note(thread, layer.index, call.rows, split, taps_of(call));
  }
  const int row_part = thread / split.column_parts, column_part = thread % split.column_parts;
  const int64_t rows = call.rows, panels = call.last_panel;
  const int input_size = layer.weights.type->rows.bytes;
  const int output_size = to_f32 ? 4 : operand_size();
  kernels::RowProduct mine = call;
  mine.first_panel = int(panels * column_part / split.column_parts);
  mine.last_panel = int(panels * (column_part + 1) / split.column_parts);
  const Share share{int(rows * row_part / split.row_parts),
                    int(rows * (row_part + 1) / split.row_parts)};
  for_each_chunk(share, chunk_rows(call.depth * input_size), [&](Share chunk) {
    multiply_alone(thread, layer, rows_of(mine, chunk.first, chunk.last, input_size, output_size),
                   to_f32);
  });
}

}  // namespace sact::engine
