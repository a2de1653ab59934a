// Training a classifier: the loop, its run folder, stopping and resuming.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "train/classify/evaluation.h"
#include "train/classify/run_folder.h"
#include "train/classify/settings.h"

namespace sact::train {

struct TrainOptions {
  TrainSettings settings;
  std::filesystem::path run;  // the run folder
  std::string device = "cpu";
  int threads = 0;
  /// Asked at every step; when it says true a checkpoint is written and training returns.
  std::function<bool()> interrupted = {};
  /// Puts what the user gave over the settings of a run that goes on, so that what was not given
  /// stays as it was. Without it `settings` count as given, all of them.
  std::function<void(TrainSettings&)> given = {};
};

struct TrainResult {
  bool first = true;             // whether this process is the one that speaks for all
  bool finished = false;         // false: interrupted, and to be resumed by the same call
  bool finished_before = false;  // there was nothing to do, and nothing was done
  int64_t epochs = 0;            // done so far
  int64_t steps = 0;
  double seconds = 0;
  EvalOutcome last;      // of the last epoch evaluated in this call
  StoredNumbers stored;  // of the whole run, in the first process
  double best_accuracy = -1;
  TrainSettings settings;    // of the run
  Network network{nullptr};  // as it stands after this call; null when the run was finished before
};

/// Trains, or goes on where the run folder stands. Several processes (see ProcessGroup) each take
/// their part of every step; the first of them alone uses the run folder. Throws sact::Error for
/// settings, data or files that make no sense, for settings that differ from those of the run, when
/// the loss is no longer finite, and when another process is lost.
TrainResult train(const TrainOptions& options);

/// The spec a run trains: from its settings, the data set's classes and the model it starts from.
ModelSpec spec_of_run(const TrainSettings& settings, const std::vector<std::string>& class_names);

}  // namespace sact::train
