// What a run tells of a classifier in training: its log, lines, curves and summary.
#pragma once

#include <string>
#include <vector>

#include "model/eval_result.h"
#include "train/classify/class_results.h"
#include "train/classify/step.h"
#include "train/loop/task.h"

namespace sact::train {

class ClassifierReport {
 public:
  explicit ClassifierReport(ModelSpec spec) : spec_(std::move(spec)) {}

  Quantities quantities() const;
  std::vector<std::string> log_columns() const;
  /// `evaluation` is null where there was none; `val_loss` is its cross-entropy.
  EpochReport epoch(const EpochNumbers& numbers, const EvalOutcome* evaluation, double val_loss);
  report::SummaryPage page(const report::CsvColumns& log) const;

  ClassResults classes;

 private:
  std::vector<double> log_row(const EpochNumbers& numbers, const EvalOutcome* evaluation,
                              double val_loss) const;
  std::string dead_units_text() const;

  ModelSpec spec_;
  /// Of each block, how many of its last units no position reached in the whole epoch.
  std::vector<int> dead_units_;
};

}  // namespace sact::train
