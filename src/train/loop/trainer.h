// The training loop: runs, epochs, checkpoints, the run folder, interruption and several processes,
// whatever is trained.
#pragma once

#include "train/loop/request.h"
#include "train/loop/task.h"

namespace sact::train {

/// Trains, or goes on where the run folder stands, with the settings of the run and over them what
/// the request gives. Several processes (see ProcessGroup) each take their part of every step; the
/// first of them alone uses the run folder. Throws sact::Error for settings, data or files that
/// make no sense, for settings that differ from those of the run, when the loss is no longer
/// finite, and when another process is lost.
TrainOutcome run_training(Task& task, const TrainRequest& request);

}  // namespace sact::train
