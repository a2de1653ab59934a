// The folder of a training run: settings, log, curves, pictures, models, checkpoint, summary.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "data/dataset.h"
#include "report/csv.h"
#include "report/event_file.h"
#include "train/checkpoint.h"
#include "train/evaluation.h"
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
  /// Makes the folder, or finds one that is there. When that holds a run its settings must be the
  /// same, otherwise sact::Error lists the differences. The folder is locked while this object
  /// lives, and what a killed run left half written is removed.
  RunFolder(std::filesystem::path path, const TrainSettings& settings);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint_path() const { return path_ / "checkpoint.safetensors"; }
  /// Where the run was interrupted; null when it begins, and after begin().
  const Checkpoint* checkpoint() const { return checkpoint_.get(); }

  /// To be called when nothing is known to stand in the way of the run, so that a failed start
  /// leaves no folder that looks like one: writes settings.json, opens log.csv and the event files
  /// without what lies after the point of resumption, and lets go of the checkpoint.
  void begin(const ModelSpec& spec, const Progression& progression);

  /// Writes NAME.safetensors.
  void write_model(const std::string& name, Network network);

  /// Pictures of the first images of the data set with their ponder maps: samples/epoch-N.png.
  void write_samples(Network network, const data::Dataset& dataset, int count, Size size,
                     torch::Device device, int64_t epoch);

  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const EpochRecord& record, int64_t step);

 private:
  void compare_settings() const;
  void report_dead_units(const EpochRecord& record);
  void write_plots(const EpochRecord& record);

  std::filesystem::path path_;
  std::unique_ptr<DirectoryLock> lock_;
  TrainSettings settings_;
  std::unique_ptr<Checkpoint> checkpoint_;
  ModelSpec spec_;
  std::unique_ptr<report::CsvLog> log_;
  std::unique_ptr<report::EventWriter> events_;
  std::string last_samples_;
  std::string dead_units_;  // as last reported
};

}  // namespace sact::train
