#include "report/ticks.h"

#include <algorithm>

#include "base/error.h"

namespace sact::report {
namespace {

/// Whether the numbers are so close that steps between them would be lost in rounding.
bool nearly_equal(double low, double high) {
  const double magnitude = std::max(std::abs(low), std::abs(high));
  return high - low <= std::max(1e-12 * magnitude, 1e-290);
}

}  // namespace

Step nice_step(double low, double high, int max_count) {
  SACT_ASSERT(std::isfinite(high - low) && !nearly_equal(low, high) && max_count > 0);
  Step step{1, int(std::floor(std::log10((high - low) / max_count))) - 1};
  while (step.last_count(high) - step.first_count(low) + 1 > max_count) {
    if (step.factor == 5) {
      step = {1, step.exponent + 1};
    } else {
      step.factor = step.factor == 1 ? 2 : 5;
    }
  }
  return step;
}

std::vector<double> nice_ticks(double low, double high, int max_count) {
  SACT_ASSERT(std::isfinite(low) && std::isfinite(high) && low <= high && max_count > 0);
  if (nearly_equal(low, high)) return {low};
  const Step step = nice_step(low, high, max_count);
  std::vector<double> ticks;
  const double last = step.last_count(high);
  for (double count = step.first_count(low); count <= last; ++count) {
    ticks.push_back(step.times(count) + 0.0);  // turns -0 into 0
  }
  return ticks;
}

}  // namespace sact::report
