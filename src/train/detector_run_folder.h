// What the run folder of a detector holds: its log, curves, pictures and summary.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "detect/examples.h"
#include "train/detection_settings.h"
#include "train/detector_evaluation.h"
#include "train/run_directory.h"

namespace sact::train {

/// One line of the log.
struct DetectorEpoch {
  int64_t epoch = 0;
  double rate = 0, loss = 0, seconds = 0, images_per_second = 0;
  std::vector<double> losses;  // as kDetectionLossNames
  std::optional<DetectorOutcome> evaluation;
};

class DetectorRunFolder {
 public:
  DetectorRunFolder(std::filesystem::path path, const DetectionSettings& settings);

  std::filesystem::path checkpoint_path() const { return directory_.checkpoint_path(); }
  const Checkpoint* checkpoint() const { return directory_.checkpoint(); }

  /// As RunDirectory::begin().
  void begin(const ModelSpec& spec, const Progression& progression);
  void write_model(const std::string& name, Detector detector);
  /// Pictures with the boxes that were found and with their ponder maps: samples/epoch-N.png.
  void write_samples(Detector detector, const detect::Examples& examples, int count,
                     torch::Device device, int64_t epoch);
  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const DetectorEpoch& record, int64_t step);

 private:
  void write_summary();

  DetectionSettings settings_;
  RunDirectory directory_;
  ModelSpec spec_;
};

}  // namespace sact::train
