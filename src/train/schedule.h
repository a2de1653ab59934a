// The learning rate over a run.
#pragma once

#include "train/settings.h"

namespace sact::train {

/// The rate of step `step` (from 0) of a run with `steps_per_epoch` steps in an epoch: a linear
/// warm-up, then drops by a factor, or half a cosine down to zero.
double learning_rate(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch);

}  // namespace sact::train
