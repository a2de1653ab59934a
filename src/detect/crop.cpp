#include "detect/crop.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "base/error.h"

namespace sact::detect {
namespace {

// So many channels at a time: the blended columns of a sample row then stay in the first cache.
constexpr int kChannelBlock = 64;

void check(const FeatureMap& features, int crop) {
  SACT_ASSERT(features.size.height > 0 && features.size.width > 0 && features.channels > 0);
  SACT_ASSERT(crop > 1);
}

void find_samples(float first, float last, int positions, std::vector<CropSample>& samples) {
  const int count = int(samples.size());
  for (int i = 0; i < count; ++i) {
    samples[size_t(i)] = crop_sample(first, last, positions, i, count);
  }
}

void blend(const float* a, const float* b, float weight, int count, float* __restrict out) {
  for (int i = 0; i < count; ++i) out[i] = a[i] + weight * (b[i] - a[i]);
}

void raise_to_blend(const float* a, const float* b, float weight, int count,
                    float* __restrict out) {
  for (int i = 0; i < count; ++i) out[i] = std::max(out[i], a[i] + weight * (b[i] - a[i]));
}

void raise_to_zero(float* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = std::max(out[i], 0.0f);
}

/// Crops and pools boxes of one feature map. Each thread has its own, made before the threads
/// start: they must not throw, so they must not allocate.
class Pooler {
 public:
  Pooler(const FeatureMap& features, const CropSettings& settings)
      : features_(features),
        settings_(settings),
        rows_(size_t(settings.crop)),
        columns_(size_t(settings.crop)),
        slots_(size_t(features.size.width)),
        blended_(size_t(2 * settings.crop) * kChannelBlock) {
    used_.reserve(size_t(2 * settings.crop));
  }

  void pool(const CropBox& box, float* out) {
    find_samples(box.y1, box.y2, features_.size.height, rows_);
    find_samples(box.x1, box.x2, features_.size.width, columns_);
    find_used_columns();
    for (int first = 0; first < features_.channels; first += kChannelBlock) {
      pool_channels(first, std::min(kChannelBlock, features_.channels - first), out + first);
    }
  }

 private:
  /// Columns of the feature map that samples are made from, each once, and where their blends lie.
  void find_used_columns() {
    std::fill(slots_.begin(), slots_.end(), -1);
    used_.clear();
    for (CropSample& sample : columns_) {
      if (!sample.inside) continue;
      for (int32_t* column : {&sample.low, &sample.high}) {
        int32_t& slot = slots_[size_t(*column)];
        if (slot < 0) {
          slot = int32_t(used_.size());
          used_.push_back(*column);
        }
        *column = slot;
      }
    }
  }

  void pool_channels(int first, int count, float* out) {
    const int cells = settings_.cells(), pool = settings_.pool, channels = features_.channels;
    for (int y = 0; y < cells; ++y, out += int64_t(cells) * channels) {
      for (int x = 0; x < cells; ++x) {
        std::fill_n(out + int64_t(x) * channels, count, -std::numeric_limits<float>::infinity());
      }
      for (int i = y * pool; i < (y + 1) * pool; ++i) {
        blend_columns(rows_[size_t(i)], first, count);
        for (int x = 0; x < cells; ++x) {
          raise_cell(rows_[size_t(i)], x, count, out + int64_t(x) * channels);
        }
      }
    }
  }

  /// The used columns between the two feature rows of a sample row.
  void blend_columns(const CropSample& row, int first, int count) {
    if (!row.inside) return;
    const float* low = features_.row(int64_t(row.low) * features_.size.width) + first;
    const float* high = features_.row(int64_t(row.high) * features_.size.width) + first;
    for (size_t slot = 0; slot < used_.size(); ++slot) {
      const int64_t column = int64_t(used_[slot]) * features_.stride;
      blend(low + column, high + column, row.weight, count, &blended_[slot * kChannelBlock]);
    }
  }

  void raise_cell(const CropSample& row, int x, int count, float* out) const {
    for (int j = x * settings_.pool; j < (x + 1) * settings_.pool; ++j) {
      const CropSample& column = columns_[size_t(j)];
      if (!row.inside || !column.inside) {
        raise_to_zero(out, count);
      } else {
        raise_to_blend(&blended_[size_t(column.low) * kChannelBlock],
                       &blended_[size_t(column.high) * kChannelBlock], column.weight, count, out);
      }
    }
  }

  const FeatureMap& features_;
  const CropSettings& settings_;
  std::vector<CropSample> rows_, columns_;
  std::vector<int32_t> slots_, used_;
  std::vector<float> blended_;
};

}  // namespace

void crop_and_resize(const FeatureMap& features, const CropBox& box, int crop, float* out) {
  check(features, crop);
  const int channels = features.channels;
  std::vector<CropSample> rows(static_cast<size_t>(crop)), columns(rows.size());
  find_samples(box.y1, box.y2, features.size.height, rows);
  find_samples(box.x1, box.x2, features.size.width, columns);
  std::vector<float> left(static_cast<size_t>(channels)), right(left.size());
  const auto at = [&](int32_t y, int32_t x) {
    return features.row(int64_t(y) * features.size.width + x);
  };
  for (const CropSample& y : rows) {
    for (const CropSample& x : columns) {
      if (y.inside && x.inside) {
        blend(at(y.low, x.low), at(y.high, x.low), y.weight, channels, left.data());
        blend(at(y.low, x.high), at(y.high, x.high), y.weight, channels, right.data());
        blend(left.data(), right.data(), x.weight, channels, out);
      } else {
        std::fill_n(out, channels, 0.0f);
      }
      out += channels;
    }
  }
}

void crop_and_pool(const FeatureMap& features, std::span<const CropBox> boxes,
                   const CropSettings& settings, ThreadTeam& team, float* out) {
  check(features, settings.crop);
  SACT_ASSERT(settings.pool > 0 && settings.crop % settings.pool == 0);
  const int64_t values = int64_t(settings.cells()) * settings.cells() * features.channels;
  std::vector<Pooler> poolers;
  for (int part = 0; part < team.size(); ++part) poolers.emplace_back(features, settings);
  std::atomic<size_t> next = 0;  // boxes differ in how much work they are
  team.run(team.size(), [&](int part) {
    for (size_t i = next++; i < boxes.size(); i = next++) {
      poolers[size_t(part)].pool(boxes[i], out + int64_t(i) * values);
    }
  });
}

}  // namespace sact::detect
