#include "train/loop/schedule.h"

#include <algorithm>
#include <cmath>

namespace sact::train {

double learning_rate(const RateSchedule& schedule, int64_t step) {
  if (double(step) < schedule.warmup_steps) {
    return std::min(schedule.rate, schedule.rate * double(step + 1) / schedule.warmup_steps);
  }
  const double time = double(step) / schedule.unit;
  if (schedule.cosine) {
    const double done = (time - schedule.cosine_from) / (schedule.cosine_to - schedule.cosine_from);
    return schedule.rate * 0.5 * (1 + std::cos(M_PI * std::min(done, 1.0)));
  }
  if (schedule.drop_every > 0) {
    return schedule.rate * std::pow(schedule.drop_factor, std::floor(time / schedule.drop_every));
  }
  double rate = schedule.rate;
  for (double drop : schedule.drops) rate *= time >= drop ? schedule.drop_factor : 1;
  return rate;
}

}  // namespace sact::train
