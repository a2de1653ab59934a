#include "engine/session.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "model/flops.h"

namespace sact::engine {
namespace {

/// Memory that grows and never shrinks, so that a run like the one before allocates nothing.
void reserve(std::vector<float>& buffer, int64_t rows, int64_t channels) {
  if (buffer.size() < size_t(rows * channels)) buffer.resize(size_t(rows * channels));
}

int padding_of(const ModelSpec& spec) {
  return spec.stem == Stem::kImageNet ? 3 : 1;
}

void clear_row(std::vector<float>& rows, int32_t row, int64_t channels) {
  std::fill_n(rows.begin() + row * channels, channels, 0.0f);
}

}  // namespace

Session::Session(std::shared_ptr<const Plan> plan, int threads)
    : plan_(std::move(plan)), team_(threads) {}

void Session::prepare(int count, Size size) {
  if (geometry_.images == count && geometry_.image == size) return;
  const ModelSpec& spec = plan_->spec;
  Geometry g;
  g.image = size;
  g.images = count;
  g.stem = {count, spec.stem_size(size)};
  g.first = {count, spec.block_size(0, size)};
  const int padding = padding_of(spec), stride = spec.stem == Stem::kImageNet ? 2 : 1;
  const int padded_height = size.height + 2 * padding, padded_width = size.width + 2 * padding;
  const int taps = plan_->stem.weights.taps;
  if (int64_t(count) * padded_height * padded_width * 3 > INT32_MAX) {
    fail("{} images of {}x{} are too many for one batch", count, size.height, size.width);
  }
  for (int image = 0; image < count; ++image) {
    for (int y = 0; y < g.stem.size.height; ++y) {
      for (int x = 0; x < g.stem.size.width; ++x) {
        for (int tap = 0; tap < taps; ++tap) {
          g.stem_rows.push_back(
              ((image * padded_height + y * stride + tap) * padded_width + x * stride) * 3);
        }
      }
    }
  }
  int64_t most_rows = g.first.rows(), most_hidden = 0, most_stream = g.first.rows() * spec.width;
  Grid before = g.first;
  for (int block = 0; block < spec.blocks(); ++block) {
    const Grid grid{count, spec.block_size(block, size)};
    g.grids.push_back(grid);
    g.neighbours.push_back(neighbour_rows(grid, grid, 1));
    const int step = spec.unit_stride(block, 0);
    g.entry.push_back(neighbour_rows(before, grid, step));
    g.entry_centres.push_back(strided_rows(before, grid, step));
    const int64_t widest =
        std::max<int64_t>(spec.block_width(block), spec.block_input_channels(block));
    most_hidden = std::max(most_hidden, (before.rows() + 1) * widest);
    most_stream = std::max(most_stream, (grid.rows() + 1) * int64_t(spec.block_channels(block)));
    most_rows = std::max<int64_t>(most_rows, grid.rows());
    before = grid;
  }
  reserve(padded_, int64_t(count) * padded_height * padded_width, 3);
  reserve(hidden_, most_hidden, 1);
  reserve(narrow_, most_hidden, 1);
  reserve(preactivated_, std::max(most_hidden, most_stream), 1);
  // The three change places from block to block, so each must hold the largest, the stem's too.
  most_stream = std::max(most_stream, int64_t(g.stem.rows()) * spec.stem_channels());
  for (auto* stream : {&stream_, &next_stream_, &output_}) reserve(*stream, most_stream, 1);
  reserve(scores_, most_rows, 1);
  reserve(tap_values_, most_rows + 1, 9);
  all_rows_.resize(size_t(most_rows));
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  marks_.assign(size_t(most_rows) + 1, 0);
  states_.resize(size_t(most_rows));
  geometry_ = std::move(g);
}

void Session::normalise(const Affine& norm, const float* input, const RowList* rows, int count,
                        float* output) {
  const int channels = int(norm.scale.size());
  kernels::RowNorm call;
  call.input = input;
  call.input_stride = channels;
  call.rows = rows ? rows->data() : nullptr;
  call.scale = norm.scale.data();
  call.shift = norm.shift.data();
  call.output = output;
  call.output_stride = channels;
  call.channels = channels;
  team_.share(count, 8, [&](int64_t first, int64_t last) {
    plan_->table.norm_f32(call, int(first), int(last));
  });
}

void Session::multiply(const Layer& layer, const float* input, int64_t input_stride,
                       const int32_t* input_rows, int count, Place output, bool relu, bool add) {
  if (count == 0) return;
  kernels::RowProduct call;
  call.input = input;
  call.input_stride = input_stride;
  call.input_rows = input_rows;
  call.taps = layer.weights.taps;
  call.depth = layer.weights.depth;
  call.weights = layer.weights.data();
  call.bias = layer.bias.data();
  call.output = output.data;
  call.output_stride = layer.weights.columns;
  call.output_rows = output.rows;
  call.columns = layer.weights.columns;
  call.relu = relu;
  call.add = add;
  const int panels = layer.weights.panels(), tile = plan_->table.tile_rows;
  // Rows are shared out where every thread gets several tiles of them, otherwise columns.
  const bool by_rows = count >= 2 * tile * team_.size() || panels < team_.size();
  if (by_rows) {
    team_.share(count, tile, [&](int64_t first, int64_t last) {
      plan_->table.product_f32(call, {int(first), int(last), 0, panels});
    });
  } else {
    team_.share(panels, 1, [&](int64_t first, int64_t last) {
      plan_->table.product_f32(call, {0, count, int(first), int(last)});
    });
  }
}

void Session::run_stem(const std::vector<float>& planes) {
  const ModelSpec& spec = plan_->spec;
  const Geometry& g = geometry_;
  const int padding = padding_of(spec);
  const int height = g.image.height, width = g.image.width;
  const int padded_height = height + 2 * padding, padded_width = width + 2 * padding;
  std::fill(padded_.begin(), padded_.end(), 0.0f);
  for (int image = 0; image < g.images; ++image) {
    for (int c = 0; c < 3; ++c) {
      const float* plane = planes.data() + (int64_t(image) * 3 + c) * height * width;
      for (int y = 0; y < height; ++y) {
        float* to = padded_.data() +
                    ((int64_t(image) * padded_height + y + padding) * padded_width + padding) * 3 +
                    c;
        for (int x = 0; x < width; ++x) to[3 * x] = plane[y * width + x];
      }
    }
  }
  const bool pooled = spec.stem == Stem::kImageNet;
  std::vector<float>& convolved = pooled ? next_stream_ : stream_;
  multiply(plan_->stem, padded_.data(), 1, g.stem_rows.data(), g.stem.rows(),
           {convolved.data(), nullptr}, false, false);
  if (!pooled) return;
  const int channels = spec.stem_channels();
  const Size from = g.stem.size, to = g.first.size;
  auto pool_row = [&](int row) {
    const int image = row / g.first.positions(), position = row % g.first.positions();
    const int y0 = position / to.width * 2 - 1, x0 = position % to.width * 2 - 1;
    float* target = stream_.data() + int64_t(row) * channels;
    bool first = true;
    for (int y = std::max(y0, 0); y < std::min(y0 + 3, from.height); ++y) {
      for (int x = std::max(x0, 0); x < std::min(x0 + 3, from.width); ++x) {
        const float* source =
            convolved.data() +
            (int64_t(image) * g.stem.positions() + int64_t(y) * from.width + x) * channels;
        for (int c = 0; c < channels; ++c) {
          target[c] = first ? source[c] : std::max(target[c], source[c]);
        }
        first = false;
      }
    }
  };
  team_.share(g.first.rows(), 8, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) pool_row(int(row));
  });
}

/// The first unit of a block is evaluated everywhere; it reads the grid before and its shortcut is
/// a convolution.
void Session::run_first_unit(int block) {
  const ModelSpec& spec = plan_->spec;
  const Unit& unit = plan_->blocks[size_t(block)][0];
  const Grid before = block == 0 ? geometry_.first : geometry_.grids[size_t(block - 1)];
  const Grid grid = geometry_.grids[size_t(block)];
  const int in = spec.block_input_channels(block), width = spec.block_width(block);
  normalise(unit.norm1, stream_.data(), nullptr, before.rows(), preactivated_.data());
  clear_row(preactivated_, before.zero_row(), in);
  multiply(*unit.shortcut, preactivated_.data(), in, geometry_.entry_centres[size_t(block)].data(),
           grid.rows(), {next_stream_.data(), nullptr}, false, false);
  const RowList& entry = geometry_.entry[size_t(block)];
  if (unit.conv3) {
    multiply(unit.conv1, preactivated_.data(), in, nullptr, before.rows(),
             {hidden_.data(), nullptr}, true, false);
    clear_row(hidden_, before.zero_row(), width);
    multiply(unit.conv2, hidden_.data(), width, entry.data(), grid.rows(),
             {narrow_.data(), nullptr}, true, false);
    multiply(*unit.conv3, narrow_.data(), width, nullptr, grid.rows(),
             {next_stream_.data(), nullptr}, false, true);
  } else {
    multiply(unit.conv1, preactivated_.data(), in, entry.data(), grid.rows(),
             {hidden_.data(), nullptr}, true, false);
    clear_row(hidden_, grid.zero_row(), width);
    multiply(unit.conv2, hidden_.data(), width, geometry_.neighbours[size_t(block)].data(),
             grid.rows(), {next_stream_.data(), nullptr}, false, true);
  }
  std::swap(stream_, next_stream_);
}

/// A later unit, where `active_` says.
void Session::run_unit(int block, const Unit& unit) {
  const ModelSpec& spec = plan_->spec;
  const Grid grid = geometry_.grids[size_t(block)];
  const RowList& neighbours = geometry_.neighbours[size_t(block)];
  const int channels = spec.block_channels(block), width = spec.block_width(block);
  const int count = int(active_.size());
  auto gather = [&](const RowList& rows) {
    gathered_.resize(rows.size() * 9);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(neighbours.begin() + int64_t(rows[i]) * 9, 9, gathered_.begin() + int64_t(i) * 9);
    }
    return gathered_.data();
  };
  if (unit.conv3) {
    normalise(unit.norm1, stream_.data(), &dilated_, int(dilated_.size()), preactivated_.data());
    multiply(unit.conv1, preactivated_.data(), channels, nullptr, int(dilated_.size()),
             {hidden_.data(), dilated_.data()}, true, false);
    clear_row(hidden_, grid.zero_row(), width);
    multiply(unit.conv2, hidden_.data(), width, gather(active_), count, {narrow_.data(), nullptr},
             true, false);
    multiply(*unit.conv3, narrow_.data(), width, nullptr, count, {stream_.data(), active_.data()},
             false, true);
  } else {
    // The first convolution reads neighbours of neighbours: their norms are taken everywhere.
    normalise(unit.norm1, stream_.data(), nullptr, grid.rows(), preactivated_.data());
    clear_row(preactivated_, grid.zero_row(), channels);
    multiply(unit.conv1, preactivated_.data(), channels, gather(dilated_), int(dilated_.size()),
             {hidden_.data(), dilated_.data()}, true, false);
    clear_row(hidden_, grid.zero_row(), width);
    multiply(unit.conv2, hidden_.data(), width, gather(active_), count,
             {stream_.data(), active_.data()}, false, true);
  }
}

void Session::compute_scores(int block, const Score& score) {
  const Grid grid = geometry_.grids[size_t(block)];
  const RowList& neighbours = geometry_.neighbours[size_t(block)];
  const int channels = plan_->spec.block_channels(block);
  // The mean over all positions: those that have halted were summed up when they did.
  std::vector<float> sums = halted_sums_;
  for (int32_t row : active_) {
    const float* x = stream_.data() + int64_t(row) * channels;
    float* sum = sums.data() + int64_t(row / grid.positions()) * channels;
    for (int c = 0; c < channels; ++c) sum[c] += x[c];
  }
  std::vector<float> global(size_t(grid.images), score.shift);
  for (int image = 0; image < grid.images; ++image) {
    double total = 0;
    for (int c = 0; c < channels; ++c) {
      total += double(sums[size_t(image) * size_t(channels) + size_t(c)]) * score.global[size_t(c)];
    }
    global[size_t(image)] += float(total / grid.positions());
  }
  const bool local = !score.taps.empty();
  if (local) {
    auto project = [&](int64_t row) {
      const float* x = stream_.data() + row * channels;
      for (int tap = 0; tap < 9; ++tap) {
        const float* weights = score.taps.data() + int64_t(tap) * channels;
        float sum = 0;
        for (int c = 0; c < channels; ++c) sum += x[c] * weights[c];
        tap_values_[size_t(row * 9 + tap)] = sum;
      }
    };
    team_.share(int64_t(dilated_.size()), 8, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) project(dilated_[size_t(i)]);
    });
  }
  for (int32_t row : active_) {
    float total = global[size_t(row / grid.positions())];
    for (int tap = 0; local && tap < 9; ++tap) {
      const int32_t neighbour = neighbours[size_t(row) * 9 + size_t(tap)];
      if (neighbour == grid.zero_row()) continue;
      total += tap_values_[size_t(neighbour) * 9 + size_t(tap)] + score.tap_shift[size_t(tap)];
    }
    scores_[size_t(row)] = 1.0f / (1.0f + std::exp(-total));
  }
  if (local && plan_->spec.tile > 1) {
    // A tile is active as a whole, so what the others hold does not matter.
    for (int image = 0; image < grid.images; ++image) {
      Map map(grid.size.height, grid.size.width);
      const auto begin = scores_.begin() + int64_t(image) * grid.positions();
      std::copy_n(begin, grid.positions(), map.values.begin());
      average_tiles(map, plan_->spec.tile);
      std::copy_n(map.values.begin(), grid.positions(), begin);
    }
  }
}

void Session::halt(int block, bool last, std::vector<ImageResult>& results) {
  const Grid grid = geometry_.grids[size_t(block)];
  const int channels = plan_->spec.block_channels(block);
  const float threshold = halting_threshold(plan_->spec.epsilon);
  size_t kept = 0;
  for (int32_t row : active_) {
    HaltingState& state = states_[size_t(row)];
    const float p = halting_step(state, last ? 1.0f : scores_[size_t(row)], threshold);
    const float* x = stream_.data() + int64_t(row) * channels;
    float* output = output_.data() + int64_t(row) * channels;
    for (int c = 0; c < channels; ++c) output[c] += p * x[c];
    if (state.active) {
      active_[kept++] = row;
      continue;
    }
    const int image = row / grid.positions(), position = row % grid.positions();
    float* sum = halted_sums_.data() + int64_t(image) * channels;
    for (int c = 0; c < channels; ++c) sum[c] += x[c];
    BlockResult& result = results[size_t(image)].blocks[size_t(block)];
    result.ponder_cost.values[size_t(position)] = state.ponder_cost;
    result.units[size_t(position)] = state.units;
  }
  active_.resize(kept);
}

void Session::run_block(int block, std::vector<ImageResult>& results) {
  const ModelSpec& spec = plan_->spec;
  const auto& units = plan_->blocks[size_t(block)];
  const Grid grid = geometry_.grids[size_t(block)];
  const int channels = spec.block_channels(block);
  const float all = float(units.size());
  for (ImageResult& result : results) {
    result.blocks.push_back({Map(grid.size.height, grid.size.width, all),
                             std::vector<int32_t>(size_t(grid.positions()), int32_t(all))});
  }
  active_.assign(all_rows_.begin(), all_rows_.begin() + grid.rows());
  dilated_ = active_;
  run_first_unit(block);
  if (!spec.adaptive()) {
    for (size_t l = 1; l < units.size(); ++l) run_unit(block, units[l]);
    return;
  }
  std::fill_n(output_.begin(), int64_t(grid.rows()) * channels, 0.0f);
  std::fill_n(states_.begin(), grid.rows(), HaltingState{});
  halted_sums_.assign(size_t(grid.images) * size_t(channels), 0.0f);
  marks_.assign(size_t(grid.rows()) + 1, 0);
  for (size_t l = 0; l < units.size() && !active_.empty(); ++l) {
    if (l > 0) run_unit(block, units[l]);
    const bool last = l + 1 == units.size();
    if (!last) compute_scores(block, *units[l].score);
    halt(block, last, results);
    dilate(active_, geometry_.neighbours[size_t(block)], marks_, dilated_);
  }
  std::swap(stream_, output_);
}

void Session::run_head(std::vector<ImageResult>& results) {
  const ModelSpec& spec = plan_->spec;
  const Grid grid = geometry_.grids.back();
  const int channels = spec.block_channels(spec.blocks() - 1);
  normalise(plan_->norm, stream_.data(), nullptr, grid.rows(), preactivated_.data());
  std::vector<float> means(size_t(grid.images) * size_t(channels), 0.0f);
  for (int row = 0; row < grid.rows(); ++row) {
    float* mean = means.data() + int64_t(row / grid.positions()) * channels;
    const float* x = preactivated_.data() + int64_t(row) * channels;
    for (int c = 0; c < channels; ++c) mean[c] += x[c];
  }
  for (float& mean : means) mean /= float(grid.positions());
  std::vector<float> logits(size_t(grid.images) * size_t(spec.classes));
  multiply(plan_->head, means.data(), channels, nullptr, grid.images, {logits.data(), nullptr},
           false, false);
  for (int image = 0; image < grid.images; ++image) {
    const auto begin = logits.begin() + int64_t(image) * spec.classes;
    results[size_t(image)].logits.assign(begin, begin + spec.classes);
  }
}

std::vector<ImageResult> Session::run(const std::vector<float>& planes, int count, Size size) {
  validate_image_size(size);
  SACT_ASSERT(int64_t(planes.size()) == 3 * count * size.positions());
  prepare(count, size);
  std::vector<ImageResult> results(static_cast<size_t>(count));
  run_stem(planes);
  for (int block = 0; block < plan_->spec.blocks(); ++block) run_block(block, results);
  run_head(results);
  for (ImageResult& result : results) result.flops = result_flops(plan_->spec, size, result.blocks);
  return results;
}

}  // namespace sact::engine
