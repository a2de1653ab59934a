// What a run tells of a classifier in training: its log, lines, curves and summary.
#pragma once

#include <string>
#include <vector>

#include "model/eval_result.h"
#include "train/classify/class_results.h"
#include "train/classify/step.h"
#include "train/loop/dead_units.h"
#include "train/loop/task.h"

namespace sact::train {

class ClassifierReport {
 public:
  explicit ClassifierReport(const ModelSpec& spec) : spec_(spec), dead_units_(spec) {}

  Quantities quantities() const;
  std::vector<std::string> log_columns() const;
  /// `evaluation` is null where there was none; `val_loss` is its cross-entropy.
  EpochReport epoch(const EpochNumbers& numbers, const EvalOutcome* evaluation, double val_loss);
  report::SummaryPage page(const report::CsvColumns& log) const;

  ClassResults classes;

 private:
  std::vector<double> log_row(const EpochNumbers& numbers, const EvalOutcome* evaluation,
                              double val_loss) const;

  ModelSpec spec_;
  DeadUnits dead_units_;
};

}  // namespace sact::train
