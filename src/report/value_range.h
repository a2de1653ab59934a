// The range of numbers that a colour scale covers.
#pragma once

#include <limits>

#include "sact/types.h"

namespace sact::report {

struct ValueRange {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();

  /// No finite value was seen.
  bool empty() const { return !(low <= high); }

  /// One value, up to what single precision sums leave of it.
  bool constant() const;

  /// Where the value stands between low and high; 0.5 in a constant range; NaN for values that are
  /// not finite.
  double position(double value) const;
};

/// From the smallest to the largest finite value of the map.
ValueRange finite_range(const Map& map);

/// The smallest range that holds both; an empty one adds nothing.
ValueRange united(const ValueRange& a, const ValueRange& b);

/// The mean of the finite values; NaN when there are none.
double finite_mean(const Map& map);

}  // namespace sact::report
