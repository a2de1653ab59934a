// The folder of a training run: settings, log, curves, pictures, models, checkpoint, summary.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

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
  int dead_units = 0;  // units that no position reached in the whole epoch
  std::optional<Evaluation> evaluation;
};

class RunFolder {
 public:
  /// Makes the folder with settings.json, or finds one that is there: its settings must be the
  /// same, otherwise sact::Error lists the differences.
  RunFolder(std::filesystem::path path, const TrainSettings& settings);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint_path() const { return path_ / "checkpoint.safetensors"; }
  bool has_checkpoint() const { return std::filesystem::exists(checkpoint_path()); }

  /// Opens log.csv and the event files, without what lies after the point of resumption.
  void open_logs(const ModelSpec& spec, const Progression& progression);

  /// Writes NAME.safetensors.
  void write_model(const std::string& name, Network network);

  /// Pictures of the first images of the data set with their ponder maps: samples/epoch-N.png.
  void write_samples(Network network, const data::Dataset& dataset, int count, Size size,
                     torch::Device device, int64_t epoch);

  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const EpochRecord& record, int64_t step);

 private:
  void write_plots();

  std::filesystem::path path_;
  TrainSettings settings_;
  ModelSpec spec_;
  std::unique_ptr<report::CsvLog> log_;
  std::unique_ptr<report::EventWriter> events_;
  std::string last_samples_;
};

}  // namespace sact::train
