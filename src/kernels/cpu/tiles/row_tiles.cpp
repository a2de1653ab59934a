#include "kernels/cpu/tiles/row_tiles.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace sact::kernels {
namespace {

int32_t row_of(const RowProduct& p, int i, int tap) {
  const int64_t position = p.list ? p.list[i] : i;
  return p.input_rows ? p.input_rows[position * p.taps + tap] : int32_t(position);
}

/// Whether the taps of two outputs lie at the same distances from the first.
bool alike(const RowProduct& p, int i, int j) {
  const int32_t distance = row_of(p, j, 0) - row_of(p, i, 0);
  for (int tap = 1; tap < p.taps; ++tap) {
    if (row_of(p, j, tap) - row_of(p, i, tap) != distance) return false;
  }
  return true;
}

/// Whether a window with so many rows that were asked for is better read in place than copied.
/// Measured: copying a line takes about as long as multiplying it with five panels, and a low tile
/// takes as long as a full one, because its weights must be loaded.
bool worth_in_place(const RowProduct& p, int asked) {
  constexpr int kCopyPanels = 5;
  const int panels = p.last_panel - p.first_panel;
  return kTileHeight * panels <= asked * (panels + kCopyPanels);
}

/// The first and the last kPart bytes, which overlap: two copies of a fixed size are faster than
/// one of any size.
template <int kPart>
void copy_ends(const std::byte* from, int bytes, std::byte* to) {
  std::memcpy(to, from, kPart);
  std::memcpy(to + bytes - kPart, from + bytes - kPart, kPart);
}

/// Less than a whole line, with zeros after it.
void copy_part(const std::byte* from, int bytes, std::byte* to) {
  std::memset(to, 0, kTileRowBytes);
  if (bytes >= 32) return copy_ends<32>(from, bytes, to);
  if (bytes >= 16) return copy_ends<16>(from, bytes, to);
  std::memcpy(to, from, size_t(bytes));
}

}  // namespace

/// Outputs [first, last) whose rows ascend in small multiples of a distance.
struct RowTiles::Run {
  int first = 0, last = 0;
  int32_t distance = 1;
};

RowTiles::Run RowTiles::run_from(const RowProduct& p, int first) const {
  constexpr int kMostGap = 4;  // distances
  Run run{first, first + 1};
  const auto gap_after = [&](int i) {
    return i + 1 < p.rows ? row_of(p, i + 1, 0) - row_of(p, i, 0) : 0;
  };
  if (gap_after(first) == 2 && gap_after(first + 1) == 2) run.distance = 2;
  for (; run.last < p.rows; ++run.last) {
    const int32_t gap = gap_after(run.last - 1);
    if (gap <= 0 || gap > kMostGap * run.distance || gap % run.distance != 0) break;
    if (!alike(p, first, run.last)) break;
  }
  return run;
}

void RowTiles::cut_run(const RowProduct& p, const Run& run) {
  const auto place_of = [&](int i) {
    return (row_of(p, i, 0) - row_of(p, run.first, 0)) / run.distance;
  };
  // Windows of equal height, so that none is left with a row or two.
  const int span = place_of(run.last - 1) + 1;
  const int windows = (span + kTileHeight - 1) / kTileHeight;
  const int most = (span + windows - 1) / windows;
  for (int i = run.first; i < run.last;) {
    const int start = place_of(i), first = i;
    RowTile tile;
    std::fill_n(tile.outputs, kTileHeight, -1);
    for (; i < run.last && place_of(i) - start < most; ++i) {
      tile.height = place_of(i) - start + 1;
      tile.outputs[tile.height - 1] = i;
    }
    if (!worth_in_place(p, i - first)) {
      for (int j = first; j < i; ++j) loose_.push_back(j);
      continue;
    }
    tile.first_source = int(sources_.size());
    tile.row_bytes = run.distance * p.input_stride * bytes_;
    tile.step_bytes = kTileRowBytes;
    for (int tap = 0; tap < p.taps; ++tap) sources_.push_back(address(p, row_of(p, first, tap)));
    tiles_.push_back(tile);
  }
}

void RowTiles::copy_tile(const RowProduct& p, std::span<const int32_t> rows, Line* lines) {
  const int depth = tile_depth(bytes_), steps = (p.depth + depth - 1) / depth;
  const int whole = p.depth / depth;
  const int rest = p.depth % depth * bytes_, height = int(rows.size());
  RowTile tile;
  tile.height = height;
  std::fill_n(tile.outputs, kTileHeight, -1);
  std::copy(rows.begin(), rows.end(), tile.outputs);
  tile.first_source = int(sources_.size());
  tile.row_bytes = kTileRowBytes;
  tile.step_bytes = height * int64_t(kTileRowBytes);
  for (int tap = 0; tap < p.taps; ++tap, lines += int64_t(steps) * height) {
    sources_.push_back(lines->bytes);
    for (int r = 0; r < height; ++r) {
      const std::byte* from = address(p, row_of(p, rows[size_t(r)], tap));
      Line* to = lines + r;
      for (int step = 0; step < whole; ++step, from += kTileRowBytes, to += height) {
        std::memcpy(to->bytes, from, kTileRowBytes);
      }
      if (rest) copy_part(from, rest, to->bytes);
    }
  }
  tiles_.push_back(tile);
}

void RowTiles::copy_loose(const RowProduct& p) {
  const int depth = tile_depth(bytes_);
  const int64_t row_lines = int64_t(p.depth + depth - 1) / depth * p.taps;
  const int64_t count = int64_t(loose_.size());
  if (int64_t(lines_.size()) < count * row_lines) lines_.resize(size_t(count * row_lines));
  const int64_t parts = (count + kTileHeight - 1) / kTileHeight;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = count * part / parts, last = count * (part + 1) / parts;
    copy_tile(p, std::span(loose_).subspan(size_t(first), size_t(last - first)),
              lines_.data() + first * row_lines);
  }
}

/// Where the end of a row must be filled up with zeros.
bool RowTiles::must_copy(const RowProduct& p) const {
  const bool whole_numbers = bytes_ == 1;
  return p.depth % tile_depth(bytes_) != 0 && !(whole_numbers && p.readable_past_rows);
}

void RowTiles::cut(const RowProduct& p, int element_bytes) {
  bytes_ = element_bytes;
  tiles_.clear();
  sources_.clear();
  loose_.clear();
  if (must_copy(p)) {
    loose_.resize(size_t(p.rows));
    std::iota(loose_.begin(), loose_.end(), 0);
  }
  for (int i = int(loose_.size()); i < p.rows;) {
    const Run run = run_from(p, i);
    cut_run(p, run);
    i = run.last;
  }
  copy_loose(p);
  std::sort(tiles_.begin(), tiles_.end(), [](const RowTile& a, const RowTile& b) {
    return a.height != b.height ? a.height > b.height : a.outputs[0] < b.outputs[0];
  });
}

RowTiles& thread_row_tiles() {
  static thread_local RowTiles tiles;
  return tiles;
}

}  // namespace sact::kernels
