// What the run folder of a classifier holds: its log, curves, pictures and summary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "train/evaluation.h"
#include "train/run_directory.h"
#include "train/settings.h"

namespace sact::train {

/// One line of the log.
struct EpochRecord {
  int64_t epoch = 0;
  double rate = 0, loss = 0, entropy = 0, accuracy = 0, seconds = 0, images_per_second = 0;
  /// Of each block, how many of its last units no position reached in the whole epoch.
  std::vector<int> dead_units;
  std::optional<EvalOutcome> evaluation;
};

class RunFolder {
 public:
  RunFolder(std::filesystem::path path, const TrainSettings& settings);

  const std::filesystem::path& path() const { return directory_.path(); }
  std::filesystem::path checkpoint_path() const { return directory_.checkpoint_path(); }
  const Checkpoint* checkpoint() const { return directory_.checkpoint(); }

  /// As RunDirectory::begin().
  void begin(const ModelSpec& spec, const Progression& progression);

  /// Writes NAME.safetensors.
  void write_model(const std::string& name, Network network);

  /// Pictures of the first images of the data set with their ponder maps: samples/epoch-N.png.
  void write_samples(Network network, const data::Dataset& dataset, int count, Size size,
                     torch::Device device, int64_t epoch);

  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const EpochRecord& record, int64_t step);

 private:
  void report_dead_units(const EpochRecord& record);
  void write_plots(const EpochRecord& record);

  TrainSettings settings_;
  RunDirectory directory_;
  ModelSpec spec_;
  std::string dead_units_;  // as last reported
};

}  // namespace sact::train
