// What the run folder of a classifier holds: its log, curves, pictures and summary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/dataset.h"
#include "evaluation/confusion.h"
#include "train/classify/evaluation.h"
#include "train/classify/settings.h"
#include "train/loop/run_directory.h"

namespace sact::train {

/// Means over the images of some steps.
struct StepRecord {
  int64_t step = 0;  // the last of them
  double rate = 0, loss = 0, entropy = 0, ponder_cost = 0;
};

/// One line of the log.
struct EpochRecord {
  int64_t epoch = 0;
  double rate = 0, loss = 0, entropy = 0, ponder_cost = 0, accuracy = 0, seconds = 0,
         images_per_second = 0;
  /// Of each block, how many of its last units no position reached in the whole epoch.
  std::vector<int> dead_units;
  std::optional<EvalOutcome> evaluation;
  double val_loss = 0;    // cross-entropy, where there is an evaluation
  std::string time_left;  // of the run, for the line that is printed
};

/// Numbers of a run that was evaluated before; NaN where it was not.
struct StoredNumbers {
  double accuracy = 0, best_accuracy = 0, flops = 0;  // of the last evaluation, but for the best
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

  /// Losses of the last steps, for the event file.
  void record_steps(const StepRecord& record);

  /// Counts what was said of the images of each class, for confusion.csv and the summary.
  void write_answers(const data::Dataset& dataset, const Answers& answers, int64_t epoch);

  /// What the log holds.
  StoredNumbers stored() const;

  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const EpochRecord& record, int64_t step);

 private:
  void read_answers(int64_t last_epoch);
  void add_class_results(report::SummaryPage& page) const;
  void report_dead_units(const EpochRecord& record);
  void write_plots(const EpochRecord& record);

  TrainSettings settings_;
  RunDirectory directory_;
  ModelSpec spec_;
  std::string dead_units_;  // as last reported
  evaluation::Confusion confusion_;
  int64_t confusion_epoch_ = 0;
};

}  // namespace sact::train
