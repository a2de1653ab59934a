// The job of `sact calibrate` on a detector: which boxes are worth a look.
#pragma once

#include <functional>
#include <vector>

#include "app/backends.h"
#include "app/inputs.h"
#include "report/table.h"

namespace sact::app {

struct BoxCalibrationOptions {
  Compute compute;
  std::vector<Input> photographs;
  int64_t most = 200;    // images, taken evenly from all
  double missed = 0.01;  // share of objects that may be lost
  int boxes = 0;         // of an image at most; 0: the model's own number
  std::function<bool()> interrupted;
};

struct BoxCalibration {
  std::vector<BoxCut> cuts;
  std::vector<double> boxes;  // of each cut, how many an image has above it: the mean
  double all_boxes = 0;       // proposals of an image, the mean
  int64_t images = 0, objects = 0;
};

/// Looks at all boxes of the photographs. sact::Error when these have too few objects,
/// sact::Interrupted when it was interrupted.
BoxCalibration calibrate_boxes(const ModelFile& model, const BoxCalibrationOptions& options);

io::Json to_json(const BoxCalibration& calibration);
/// Rounded for people.
report::Table box_table(const BoxCalibration& calibration);

}  // namespace sact::app
