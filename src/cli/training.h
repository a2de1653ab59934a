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

/// --data and --init, of commands that train on a data set.
void add_data_options(CLI::App& command, TrainingOptions& options, const std::string& data_help,
                      const std::string& init_help);

/// What every training has. `defaults` are all settings as JSON, whose keys completion offers.
void add_training_options(CLI::App& command, TrainingOptions& options, const std::string& defaults);

/// How an assignment of each of the settings begins: "epochs=".
std::vector<std::string> setting_beginnings(const std::string& defaults);

/// What --settings prints: the list of settings, or their defaults as JSON.
void print_settings(const TrainingOptions& options, const std::string& help,
                    const std::string& defaults);

/// What to ask of LibTorch; from now on Ctrl-C stops the training with a checkpoint.
train::TrainRequest training_request(const TrainingOptions& options);

/// How a training speaks of itself.
struct TrainingWords {
  const char* command;                      // without "sact"
  const char* score;                        // what evaluations measure: a key of the JSON too
  std::string (*score_text)(double score);  // for people
};

/// Prints the outcome; `next` are commands for a run that is finished. Returns the exit status.
int print_outcome(const TrainingOptions& options, const train::TrainOutcome& outcome,
                  const TrainingWords& words, const std::string& next);

}  // namespace sact::cli
