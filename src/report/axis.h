// The axis of a plot: its range, where values stand on it, and its numbers.
#pragma once

#include <string>
#include <vector>

#include "report/ticks.h"
#include "report/value_range.h"

namespace sact::report {

struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;

  /// Whether the axis can show the value at all: finite, of sane size, above 0 when logarithmic.
  bool shows(double value) const;

  /// 0 at the low end, 1 at the high end, beyond them outside; the value must be one that it shows.
  double position(double value) const;
};

/// An axis for data of the given range (only values that it shows), or for exactly the `wanted`
/// range where that is not empty. Room is left at both ends of data, but not beyond 0.
Axis make_axis(const ValueRange& data, const ValueRange& wanted, bool logarithmic);

struct AxisTicks {
  std::vector<Tick> major;    // with labels
  std::vector<double> minor;  // positions without
  std::string factor;         // what the labels are to be multiplied with: "10³"; usually empty
};

/// At most `max_count` labelled ticks on round numbers.
AxisTicks axis_ticks(const Axis& axis, int max_count);

}  // namespace sact::report
