// The settings of a run that goes on: those it was started with, and over them what the user gives.
#pragma once

#include <string>

#include "base/log.h"
#include "train/loop/run_directory.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// Replaces `options.settings` where the run folder of the first process holds a run. Settings that
/// were not given then need not be the same by chance, nor be known to the other group.
/// `options` are those of either kind of training, and `read` makes its settings from JSON.
template <typename Options, typename Read>
void resume_settings(Options& options, ProcessGroup& group, bool detector, const Read& read) {
  if (!options.given) return;
  std::string stored;
  if (group.first()) {
    read_stored_settings(options.run, detector,
                         [&](const std::string& json, const std::string& name) {
                           read(json, name, {});
                           stored = json;
                         });
  }
  stored = group.broadcast(stored);
  if (stored.empty()) return;
  options.settings = read(stored, "the settings of worker 0", {});
  const auto epochs = options.settings.epochs;
  options.given(options.settings);
  if (options.settings.epochs > epochs && group.first()) {
    log_info("epochs: {} -> {}; from here on the rate is that of a run of {} epochs", epochs,
             options.settings.epochs, options.settings.epochs);
  }
}

}  // namespace sact::train
