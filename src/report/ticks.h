// Round numbers for scales and axes.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace sact::report {

/// 1, 2 or 5 times a power of ten, kept apart so that 3 * 0.1 can be computed as 3 / 10.
struct Step {
  int factor = 1;
  int exponent = 0;

  double times(double count) const {
    const double power = std::pow(10.0, std::abs(exponent));
    return exponent < 0 ? count * factor / power : count * factor * power;
  }
  double first_count(double low) const { return std::ceil(low / times(1) - 1e-9); }
  double last_count(double high) const { return std::floor(high / times(1) + 1e-9); }
};

/// The smallest step of which at most `max_count` multiples lie within low ... high, which must
/// differ.
Step nice_step(double low, double high, int max_count);

/// Multiples of 1, 2 or 5 times a power of ten within low ... high: as many as possible but at most
/// `max_count`. Just `low` when both ends are the same number; may be empty only for `max_count` 1.
std::vector<double> nice_ticks(double low, double high, int max_count);

/// A number written beside the scale; `position` is 0 at the low end and 1 at the high end.
struct Tick {
  double position;
  std::string label;
};

}  // namespace sact::report
