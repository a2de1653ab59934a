// What the run folder of a detector holds: its log, curves, pictures and summary.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "detect/examples.h"
#include "train/detect/detection_settings.h"
#include "train/detect/detector_evaluation.h"
#include "train/loop/run_directory.h"

namespace sact::train {

/// One line of the log.
struct DetectorEpoch {
  int64_t epoch = 0;
  double rate = 0, loss = 0, seconds = 0, images_per_second = 0;
  std::vector<double> losses;  // as kDetectionLossNames
  std::optional<DetectorOutcome> evaluation;
  std::string time_left;  // of the run, for the line that is printed
};

/// Numbers of a run that was evaluated before; NaN where it was not, or found nothing to evaluate.
struct StoredDetectorNumbers {
  double ap = 0, best_ap = 0, flops = 0;  // of the last evaluation, but for the best
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
  /// Mean losses of the last steps (the whole, then its parts) for the event file.
  void record_steps(const std::vector<double>& losses, double rate, int64_t step);
  /// What the log holds.
  StoredDetectorNumbers stored() const;
  /// Adds the epoch to log, event file, plots and summary, and prints its line.
  void record(const DetectorEpoch& record, int64_t step);

 private:
  void write_summary();

  DetectionSettings settings_;
  RunDirectory directory_;
  ModelSpec spec_;
};

}  // namespace sact::train
