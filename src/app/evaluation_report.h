// What is shown of an evaluation: tables, plots, and every image in a file.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "evaluation/evaluate.h"
#include "model/eval_result.h"
#include "report/table.h"

namespace sact::app {

/// A row for each size: rounded for people, or plain numbers for a file.
report::Table outcome_table(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes);
report::Table outcome_numbers(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes);

/// Accuracy over the side of images and over FLOPs, as SVG.
std::string accuracy_plots(const std::vector<EvalOutcome>& outcomes);

/// What the network said of every image, written as CSV while the evaluation goes on; there may be
/// millions.
class PredictionsFile {
 public:
  explicit PredictionsFile(const std::string& path);
  void add(const EvaluatedImage& image);
  void commit();

 private:
  void write_rows();

  AtomicFile file_;
  std::string rows_;
};

}  // namespace sact::app
