// The learning rate over a run.
#pragma once

#include <cstdint>
#include <vector>

namespace sact::train {

/// A linear warm-up to `rate`, then drops by a factor, or half a cosine down to zero. Times of
/// drops and cosine are in units of so many steps.
struct RateSchedule {
  double rate = 0;
  double warmup_steps = 0;  // need not be a whole number
  double unit = 1;          // steps
  bool cosine = false;
  double cosine_from = 0, cosine_to = 1;
  double drop_factor = 1;
  std::vector<double> drops;
  double drop_every = 0;  // 0: at `drops` only
};

/// The rate of step `step` (from 0), which is never above `schedule.rate`.
double learning_rate(const RateSchedule& schedule, int64_t step);

}  // namespace sact::train
