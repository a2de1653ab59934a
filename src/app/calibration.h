// The job of `sact calibrate`: what halting shifts come to on photographs, and what is shown of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/backends.h"
#include "app/inputs.h"
#include "evaluation/evaluate.h"
#include "report/table.h"

namespace sact::app {

struct CalibrationOptions {
  Compute compute;
  std::vector<Input> photographs;  // without labels; none: those of `data`
  EvaluationRequest data;          // a data set with labels; also batch, threads, interruption
  std::string dense;               // model file of a network whose classes to compare with; or none
  Size size;                       // of the images
  int64_t most = 200;              // images, taken evenly from all
  std::vector<double> shifts;      // empty: chosen for even steps of work
  int points = 9;                  // how many then
};

struct Calibration {
  Dial dial;
  bool corrected = false;  // some shares of FLOPs had risen with the shift
};

/// sact::Interrupted when it was interrupted.
Calibration calibrate(const ModelFile& model, const CalibrationOptions& options);

/// Shifts whose shares of FLOPs lie about evenly between the smallest and the largest that the
/// network can reach, one more near each end, and 0. `share_at` measures; `least` and `most` are
/// the limits of what it can give.
std::vector<double> choose_shifts(const std::function<double(double shift)>& share_at, double least,
                                  double most, int points);

/// Rounded for people.
report::Table dial_table(const Dial& dial);
/// Agreement, and accuracy where there is one, over work; work over the shift.
std::string dial_plots(const Dial& dial);

}  // namespace sact::app
