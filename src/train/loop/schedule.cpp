#include "train/loop/schedule.h"

#include <cmath>

namespace sact::train {

double learning_rate(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch) {
  const double epoch = double(step) / double(steps_per_epoch);
  if (epoch < settings.warmup_epochs) {
    return settings.rate * double(step + 1) / (settings.warmup_epochs * double(steps_per_epoch));
  }
  if (settings.schedule == "step") {
    return settings.rate * std::pow(settings.step_factor, std::floor(epoch / settings.step_epochs));
  }
  const double done =
      (epoch - settings.warmup_epochs) / (double(settings.epochs) - settings.warmup_epochs);
  return settings.rate * 0.5 * (1 + std::cos(M_PI * std::min(done, 1.0)));
}

double ponder_weight(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch) {
  const double rise = settings.tau_warmup_epochs * double(steps_per_epoch);
  return double(step) < rise ? settings.tau * double(step) / rise : settings.tau;
}

}  // namespace sact::train
