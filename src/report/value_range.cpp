// Ranges and means that leave out NaN and infinity.
#include "report/value_range.h"

#include <algorithm>
#include <cmath>

namespace sact::report {

bool ValueRange::constant() const {
  return high - low <= 1e-5 * std::max(std::abs(low), std::abs(high));
}

double ValueRange::position(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  if (constant()) return 0.5;
  return (value - low) / (high - low);
}

ValueRange finite_range(const Map& map) {
  ValueRange range;
  for (const float value : map.values) {
    if (std::isfinite(value)) range = united(range, {value, value});
  }
  return range;
}

ValueRange united(const ValueRange& a, const ValueRange& b) {
  // fmin and fmax pass over the NaN of an empty range.
  return {std::fmin(a.low, b.low), std::fmax(a.high, b.high)};
}

double finite_mean(const Map& map) {
  double sum = 0;
  size_t count = 0;
  for (const float value : map.values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / double(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sact::report
