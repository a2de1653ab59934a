// What was said of the images of each class: confusion.csv and the summary's tables.
#pragma once

#include <filesystem>

#include "data/dataset.h"
#include "evaluation/confusion.h"
#include "model/spec.h"
#include "report/summary_page.h"
#include "train/classify/evaluation.h"

namespace sact::train {

class ClassResults {
 public:
  /// Counts the answers of an evaluation and writes them to the run folder.
  void write(const std::filesystem::path& run, const data::Dataset& dataset, const Answers& answers,
             int64_t epoch);
  /// Reads those of the evaluation before the point where the run goes on, if the file is of that.
  void read(const std::filesystem::path& run, int classes, int64_t last_epoch);

  void add_to(report::SummaryPage& page, const ModelSpec& spec) const;

 private:
  evaluation::Confusion confusion_;
  int64_t epoch_ = 0;
};

}  // namespace sact::train
