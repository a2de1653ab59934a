// The settings that the user gives, and those of a run that goes on.
#pragma once

#include "train/loop/request.h"
#include "train/loop/task.h"

namespace sact::train {

/// Puts what the request gives over the settings.
void give_settings(RunSettings& settings, const TrainRequest& request);

/// Takes the settings of the run that the folder of the first process holds, if it holds one, and
/// puts over them what the request gives: settings that are not given then need not be the same by
/// chance, nor be known to the other processes.
void resume_settings(Task& task, const TrainRequest& request, ProcessGroup& group);

}  // namespace sact::train
