// What the commands that train have in common.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "train/plugin.h"

namespace sact::cli {

struct TrainingOptions {
  CommonOptions common;
  std::string config, run, data, init;
  std::vector<std::string> assignments;
  bool list_settings = false;
};

void add_training_options(CLI::App& command, TrainingOptions& options, const std::string& data_help,
                          const std::string& init_help);

/// What to ask of LibTorch; from now on Ctrl-C stops the training with a checkpoint.
train::TrainRequest training_request(const TrainingOptions& options);

/// Says how to go on with a run that was interrupted.
void print_stopped(const TrainingOptions& options, int64_t steps);

}  // namespace sact::cli
