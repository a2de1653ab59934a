// A detector over a set of annotated pictures, shared by several processes.
#pragma once

#include <vector>

#include "data/corrupt_samples.h"
#include "detect/coco_eval.h"
#include "detect/detection_dataset.h"
#include "model/eval_result.h"
#include "train/torch/detector.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// Means and deviations are over pictures.
struct DetectorOutcome {
  detect::CocoMetrics metrics = {};
  int64_t pictures = 0;
  MeanStd flops;               // of the extractor
  double dense_flops = 0;      // likewise, the mean
  double head_share = 0;       // of the dense FLOPs of what classifies boxes, the mean
  std::vector<MeanStd> units;  // of each of its blocks: mean over positions
};

/// Runs the detector over every readable picture; each is taken by exactly one process, and all get
/// the whole outcome.
DetectorOutcome evaluate_detector(Detector detector, const detect::DetectionDataset& dataset,
                                  data::CorruptSamples& corrupt, ProcessGroup& group, int workers);

}  // namespace sact::train
