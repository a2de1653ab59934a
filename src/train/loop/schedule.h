// The learning rate and the weight of the ponder cost over a run.
#pragma once

#include "train/classify/settings.h"

namespace sact::train {

/// The rate of step `step` (from 0) of a run with `steps_per_epoch` steps in an epoch: a linear
/// warm-up, then drops by a factor, or half a cosine down to zero.
double learning_rate(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch);

/// The weight of the ponder cost in the loss of step `step`: tau, after a linear rise from 0.
double ponder_weight(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch);

}  // namespace sact::train
