// What a run tells of a network that becomes adaptive: its log, lines, curves and summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/eval_result.h"
#include "train/adapt/step.h"
#include "train/loop/dead_units.h"
#include "train/loop/run_log.h"
#include "train/loop/task.h"

namespace sact::train {

/// The adaptive network beside the dense one on photographs that were not used to adapt it.
struct AdaptEvaluation {
  EvalOutcome student;  // its "accuracy" is the agreement with the dense network's answers
  double divergence = 0;
  std::optional<double> accuracy;  // on labelled images, where there are any
  MeanStd share;                   // of the dense network's FLOPs
};

/// What makes one model of a run better than another: within the budget the lower divergence (1 +
/// exp(-KL)); of those above it by more than 2 % of the dense FLOPs, which all come after, the one
/// that is nearer. Without a budget (0), the lower divergence.
double adapt_score(const AdaptEvaluation& evaluation, double budget);

class AdaptReport {
 public:
  AdaptReport(const ModelSpec& spec, double budget)
      : spec_(spec), budget_(budget), dead_units_(spec) {}

  Quantities quantities() const;
  std::vector<std::string> log_columns() const;
  /// `evaluation` is null where there was none.
  EpochReport epoch(const EpochNumbers& numbers, const AdaptEvaluation* evaluation);
  report::SummaryPage page(const report::CsvColumns& log) const;

  /// "KL 0.0123, agreement 97.10 %, 84.9 ± 3.1 % of dense FLOPs, units 2.9 3.5 5.2 2.9".
  static std::string text_of(const AdaptEvaluation& evaluation);
  static std::vector<std::pair<std::string, double>> scalars(const AdaptEvaluation& evaluation);

 private:
  std::vector<report::Plot> plots(const report::CsvColumns& log) const;
  report::PageTable epochs_table(const report::CsvColumns& log, const BestAndLast& rows) const;

  ModelSpec spec_;
  double budget_;
  DeadUnits dead_units_;
};

}  // namespace sact::train
