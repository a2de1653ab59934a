// What a run tells of a detector in training: its log, lines, curves and summary.
#pragma once

#include <string>
#include <vector>

#include "train/detect/evaluation.h"
#include "train/loop/task.h"

namespace sact::train {

class DetectorReport {
 public:
  explicit DetectorReport(ModelSpec spec) : spec_(std::move(spec)) {}

  /// The whole loss, its parts as kDetectionLossNames, and kDetectionWorkNames.
  Quantities quantities() const;
  std::vector<std::string> log_columns() const;
  /// `evaluation` is null where there was none.
  EpochReport epoch(const EpochNumbers& numbers, const DetectorOutcome* evaluation) const;
  report::SummaryPage page(const report::CsvColumns& log) const;

 private:
  std::vector<double> log_row(const EpochNumbers& numbers, const DetectorOutcome* evaluation) const;

  ModelSpec spec_;
};

}  // namespace sact::train
