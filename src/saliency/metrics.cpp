#include "saliency/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace sact::saliency {
namespace {

void check_sizes(const Map& map, const Fixations& fixations) {
  SACT_ASSERT(map.height == fixations.size.height && map.width == fixations.size.width);
  SACT_ASSERT(!fixations.pixels.empty() && fixations.pixels.size() < map.values.size());
}

void check_sizes(const Map& map, const Map& density) {
  SACT_ASSERT(map.height == density.height && map.width == density.width);
}

/// How many numbers reach how many of a few thresholds, asked for millions of numbers. They are
/// counted in equal intervals between the lowest and the highest threshold; only in the few that
/// have a threshold inside they are compared with it.
class ThresholdCounts {
 public:
  /// `thresholds` ascend without repetition.
  explicit ThresholdCounts(std::vector<float> thresholds) : thresholds_(std::move(thresholds)) {
    low_ = thresholds_.front();
    const double range = thresholds_.back() - low_;
    scale_ = range > 0 ? kIntervals / range : 0;
    for (const float threshold : thresholds_) ++firsts_[interval(threshold) + 1];
    std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
  }

  /// Element k: how many of the numbers reach k thresholds and no more.
  std::vector<int64_t> operator()(std::span<const float> numbers) const {
    std::vector<int64_t> whole(kIntervals + 2), counts(thresholds_.size() + 1);
    for (const float number : numbers) {
      const size_t here = interval(number);
      if (firsts_[here] == firsts_[here + 1]) {
        ++whole[here];
      } else {
        ++counts[reached_in(here, number)];
      }
    }
    for (size_t i = 0; i < whole.size(); ++i) counts[firsts_[i]] += whole[i];
    return counts;
  }

 private:
  static constexpr size_t kIntervals = 8192;

  /// Never falls as the number grows. Numbers far below the lowest threshold have the first.
  size_t interval(float number) const {
    return size_t(int(std::clamp((number - low_) * scale_, -1.0, double(kIntervals))) + 1);
  }

  size_t reached_in(size_t interval, float number) const {
    const auto first = thresholds_.begin() + firsts_[interval];
    const auto last = thresholds_.begin() + firsts_[interval + 1];
    return size_t(std::upper_bound(first, last, number) - thresholds_.begin());
  }

  std::vector<float> thresholds_;
  std::array<uint32_t, kIntervals + 3> firsts_{};  // of each interval, among the thresholds
  double low_ = 0, scale_ = 0;
};

/// A ROC curve from (0, 0), point by point, to (1, 1), and the area under it by trapezoids.
class Curve {
 public:
  void add(double false_positives, double true_positives) {
    area_ += (false_positives - false_positives_) * (true_positives + true_positives_) / 2;
    false_positives_ = false_positives;
    true_positives_ = true_positives;
  }
  double area() {
    add(1, 1);
    return area_;
  }

 private:
  double area_ = 0, false_positives_ = 0, true_positives_ = 0;
};

std::vector<float> values_at(const Map& map, const std::vector<uint32_t>& pixels) {
  std::vector<float> values;
  values.reserve(pixels.size());
  for (const uint32_t pixel : pixels) values.push_back(map.values[pixel]);
  return values;
}

/// Values on the scale on which the map goes from 0 to 1; 0 for a constant map.
class UnitScale {
 public:
  explicit UnitScale(const Map& map) {
    const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
    low_ = *low;
    constant_ = *high == *low;
    range_ = constant_ ? 1 : double(*high) - low_;
  }
  /// Divides, so that the highest value is 1 and not next to it.
  double operator()(float value) const { return (value - low_) / range_; }
  bool constant() const { return constant_; }

 private:
  double low_ = 0, range_ = 1;
  bool constant_ = false;
};

/// How many thresholds 0, step, 2 step, ... each value reaches.
class StepCounts {
 public:
  StepCounts(double step, int thresholds) : step_(step), counts_(size_t(thresholds) + 1) {}

  void add(double value) {
    size_t reached = 0;
    while (reached + 1 < counts_.size() && double(reached) * step_ <= value) ++reached;
    ++counts_[reached];
  }
  /// The share of the values at or above each threshold.
  std::vector<double> shares() const {
    std::vector<double> shares(counts_.size() - 1);
    const double all = double(std::accumulate(counts_.begin(), counts_.end(), int64_t{0}));
    int64_t above = 0;
    for (size_t i = shares.size(); i-- > 0;) {
      above += counts_[i + 1];
      shares[i] = double(above) / all;
    }
    return shares;
  }

 private:
  double step_;
  std::vector<int64_t> counts_;
};

/// The mean area over splits; `draw(random)` gives the pixels of a split's negatives.
template <typename Draw>
double sampled_auc(const Map& map, const Fixations& fixations, const Sampling& sampling,
                   Draw&& draw) {
  const UnitScale scale(map);
  const int thresholds = int(1 / sampling.step + 1e-9) + 1;
  StepCounts positives(sampling.step, thresholds);
  for (const float value : values_at(map, fixations.pixels)) positives.add(scale(value));
  const std::vector<double> hits = positives.shares();
  Random random(sampling.seed);
  double sum = 0;
  for (int split = 0; split < sampling.splits; ++split) {
    StepCounts negatives(sampling.step, thresholds);
    for (const uint32_t pixel : draw(random)) negatives.add(scale(map.values[pixel]));
    const std::vector<double> alarms = negatives.shares();
    Curve curve;
    for (size_t i = hits.size(); i-- > 0;) curve.add(alarms[i], hits[i]);
    sum += curve.area();
  }
  return sum / sampling.splits;
}

struct Moments {
  double mean = 0;
  double squares = 0;  // the sum of squared differences from the mean
};

Moments moments(const Map& map) {
  Moments moments;
  for (const float value : map.values) moments.mean += value;
  moments.mean /= double(map.values.size());
  for (const float value : map.values) {
    moments.squares += (value - moments.mean) * (value - moments.mean);
  }
  return moments;
}

double sum(const Map& map) {
  return std::accumulate(map.values.begin(), map.values.end(), 0.0);
}

bool constant(const Map& map) {
  return UnitScale(map).constant();
}

}  // namespace

double auc_judd(const Map& map, const Fixations& fixations) {
  check_sizes(map, fixations);
  std::vector<float> fixated = values_at(map, fixations.pixels);
  std::sort(fixated.begin(), fixated.end());
  std::vector<float> thresholds = fixated;
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  const ThresholdCounts counts(std::move(thresholds));
  const std::vector<int64_t> pixels = counts(map.values), hits = counts(fixated);

  const double positives = double(fixated.size());
  const double negatives = double(map.values.size()) - positives;
  int64_t pixels_above = 0, hits_above = 0;
  Curve curve;
  for (size_t i = pixels.size() - 1; i > 0; --i) {
    pixels_above += pixels[i];
    hits_above += hits[i];
    curve.add(double(pixels_above - hits_above) / negatives, double(hits_above) / positives);
  }
  return curve.area();
}

Map jittered(const Map& map, uint64_t seed) {
  const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  const double amount = *high > *low ? 1e-6 * (double(*high) - *low) : 1e-6;
  Random random(seed);
  Map out = map;
  for (float& value : out.values) value = float(value + amount * random.uniform());
  return out;
}

double auc_borji(const Map& map, const Fixations& fixations, const Sampling& sampling) {
  check_sizes(map, fixations);
  std::vector<uint32_t> drawn(fixations.pixels.size());
  return sampled_auc(
      map, fixations, sampling, [&](Random & random) -> const auto& {
        for (uint32_t& pixel : drawn) pixel = uint32_t(random.below(int64_t(map.values.size())));
        return drawn;
      });
}

double auc_shuffled(const Map& map, const Fixations& fixations, const Fixations& others,
                    const Sampling& sampling) {
  check_sizes(map, fixations);
  SACT_ASSERT(others.size == fixations.size && !others.pixels.empty());
  std::vector<uint32_t> pool = others.pixels, drawn;
  const size_t count = std::min(fixations.pixels.size(), pool.size());
  return sampled_auc(
      map, fixations, sampling, [&](Random & random) -> const auto& {
        for (size_t i = 0; i < count; ++i) {
          std::swap(pool[i], pool[i + size_t(random.below(int64_t(pool.size() - i)))]);
        }
        drawn.assign(pool.begin(), pool.begin() + long(count));
        return drawn;
      });
}

double nss(const Map& map, const Fixations& fixations) {
  check_sizes(map, fixations);
  if (constant(map)) return 0;
  const auto [mean, squares] = moments(map);
  const double deviation = std::sqrt(squares / double(map.values.size() - 1));
  double sum = 0;
  for (const uint32_t pixel : fixations.pixels) sum += (map.values[pixel] - mean) / deviation;
  return sum / double(fixations.pixels.size());
}

double correlation(const Map& map, const Map& density) {
  check_sizes(map, density);
  if (constant(map) || constant(density)) return 0;
  const Moments a = moments(map), b = moments(density);
  double products = 0;
  for (size_t i = 0; i < map.values.size(); ++i) {
    products += (map.values[i] - a.mean) * (density.values[i] - b.mean);
  }
  return products / std::sqrt(a.squares * b.squares);
}

double similarity(const Map& map, const Map& density) {
  check_sizes(map, density);
  const UnitScale a(map), b(density);
  // The share of a pixel on the unit scale: for a constant map the same everywhere.
  const auto share_scale = [](const Map& values, const UnitScale& scale) {
    double total = 0;
    for (const float value : values.values) total += scale(value);
    return scale.constant() ? 0 : 1 / total;
  };
  const double uniform = 1 / double(map.values.size());
  const double a_factor = share_scale(map, a), b_factor = share_scale(density, b);
  double overlap = 0;
  for (size_t i = 0; i < map.values.size(); ++i) {
    const double share = a.constant() ? uniform : a(map.values[i]) * a_factor;
    const double wanted = b.constant() ? uniform : b(density.values[i]) * b_factor;
    overlap += std::min(share, wanted);
  }
  return overlap;
}

double kl_divergence(const Map& map, const Map& density) {
  check_sizes(map, density);
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double map_sum = sum(map), density_sum = sum(density);
  SACT_ASSERT(map_sum >= 0 && density_sum > 0);
  const double uniform = 1 / double(map.values.size());
  double divergence = 0;
  for (size_t i = 0; i < map.values.size(); ++i) {
    const double wanted = density.values[i] / density_sum;
    if (wanted == 0) continue;
    const double share = map_sum > 0 ? map.values[i] / map_sum : uniform;
    divergence += wanted * std::log(kEpsilon + wanted / (share + kEpsilon));
  }
  return divergence;
}

}  // namespace sact::saliency
