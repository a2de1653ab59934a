// Training a detector: the loop, its run folder, stopping and resuming.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "train/detect/detection_settings.h"
#include "train/detect/detector_run_folder.h"
#include "train/torch/detector.h"

namespace sact::train {

struct DetectorTrainOptions {
  DetectionSettings settings;
  std::filesystem::path run;  // the run folder
  std::string device = "cpu";
  int threads = 0;
  /// Asked at every step; when it says true a checkpoint is written and training returns.
  std::function<bool()> interrupted = {};
  std::function<void(DetectionSettings&)> given = {};  // as TrainOptions'
};

struct DetectorTrainResult {
  bool first = true;             // whether this process is the one that speaks for all
  bool finished = false;         // false: interrupted, and to be resumed by the same call
  bool finished_before = false;  // there was nothing to do, and nothing was done
  int64_t epochs = 0;            // done so far
  int64_t steps = 0;
  double seconds = 0;
  double ap = -1, best_ap = -1;  // mean average precision, of the last and of the best evaluation
  double flops = 0;              // of the extractor, mean over images of the last evaluation
  StoredDetectorNumbers stored;  // of the whole run, in the first process
  Detector detector{nullptr};    // as it stands after this call; null when finished before
};

/// Trains, or goes on where the run folder stands; as train() does with classifiers.
DetectorTrainResult train_detector(const DetectorTrainOptions& options);

/// The spec a run trains: from its settings, the classes of its data and the model it starts from.
ModelSpec spec_of_run(const DetectionSettings& settings,
                      const std::vector<std::string>& class_names);

}  // namespace sact::train
