#include "model/activation_range.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/quantization.h"

namespace sact {

std::vector<std::string> range_method_names() {
  std::vector<std::string> names;
  for (const NamedRangeMethod& known : kRangeMethods) names.emplace_back(known.name);
  return names;
}

RangeMethod range_method_from_name(const std::string& name) {
  for (const NamedRangeMethod& known : kRangeMethods) {
    if (known.name == name) return known.method;
  }
  fail("there is no way '{}' to choose ranges; known: {}", printable(name),
       fmt::join(range_method_names(), ", "));
}

/// Intervals are joined in pairs until all together reach far enough.
void ActivationRange::grow(float largest) {
  largest_ = largest;
  if (range_ == 0) range_ = std::exp2(std::ceil(std::log2(double(largest))));
  for (; range_ < largest; range_ *= 2) {
    for (size_t i = 0; i < kIntervals / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kIntervals / 2, counts_.end(), 0);
  }
}

void ActivationRange::add(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) fail("a layer reads numbers that are not finite");
    largest = std::max(largest, value);
  }
  count_ += int64_t(values.size());
  if (largest > largest_) grow(largest);
  if (largest == 0) return;
  const float per_interval = float(1 / width());
  for (const float value : values) {
    if (value <= 0) continue;
    ++counts_[std::min(size_t(value * per_interval), kIntervals - 1)];
  }
}

double ActivationRange::percentile() const {
  constexpr double kCutOff = 1e-4;
  int64_t above = 0;
  const int64_t most = int64_t(kCutOff * double(count_));
  size_t end = kIntervals;
  while (end > 1 && above + counts_[end - 1] <= most) above += counts_[--end];
  return std::min(double(end) * width(), double(largest_));
}

double ActivationRange::squared_error(double end) const {
  const double scale = end / kLargestInput;
  double sum = 0;
  for (size_t i = 0; i < kIntervals; ++i) {
    if (counts_[i] == 0) continue;
    const double value = (double(i) + 0.5) * width();
    // Within a step of whole numbers, numbers lie anywhere.
    const double error = value > end         ? value - end
                         : value < scale / 2 ? value
                                             : scale / std::sqrt(12.0);
    sum += double(counts_[i]) * error * error;
  }
  return sum;
}

double ActivationRange::least_squared_error() const {
  double best = largest_, least = squared_error(best);
  for (size_t i = kIntervals / 64; i < kIntervals; ++i) {
    const double end = double(i + 1) * width();
    if (end >= largest_) break;
    const double error = squared_error(end);
    if (error < least) {
      least = error;
      best = end;
    }
  }
  return best;
}

float ActivationRange::scale(RangeMethod method) const {
  if (largest_ == 0) return 1;
  switch (method) {
    case RangeMethod::kMax:
      return largest_ / kLargestInput;
    case RangeMethod::kPercentile:
      return float(percentile() / kLargestInput);
    case RangeMethod::kMse:
      return float(least_squared_error() / kLargestInput);
  }
  SACT_ASSERT(false);
}

}  // namespace sact
