#include "train/classify/report.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "model/flops.h"
#include "train/loop/run_log.h"

namespace sact::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, accuracy, flops;
  label_over_epochs(loss, "Loss", "loss");
  loss.series = {column_series(log, "train_loss", "training loss"),
                 column_series(log, "train_entropy", "training cross-entropy"),
                 column_series(log, "val_loss", "validation cross-entropy")};
  label_over_epochs(accuracy, "Accuracy", "accuracy (%)");
  accuracy.series = {column_series(log, "train_accuracy", "training", 100),
                     column_series(log, "val_accuracy", "validation", 100)};
  label_over_epochs(flops, "FLOPs", "GFLOP per image");
  flops.series = {column_series(log, "flops", "validation", 1e-9)};
  if (!spec.adaptive()) return {loss, accuracy};  // its FLOPs and units stay as they are
  return {loss, accuracy,
          plot_over_flops(log, "val_accuracy", "Accuracy over FLOPs", "validation accuracy (%)"),
          flops, units_plot(log, spec.blocks())};
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value) : std::string();
}

double dense_flops_of(const ModelSpec& spec) {
  return double(dense_flops(spec, {spec.input.size, spec.input.size}));
}

report::PageTable best_and_last_epochs(const report::CsvColumns& log, const BestAndLast& rows,
                                       const ModelSpec& spec) {
  std::vector<std::string> columns = {"accuracy %",    "recall@5 %", "val. loss",
                                      "train. acc. %", "FLOPs",      "of dense %"};
  const int blocks = spec.adaptive() ? spec.blocks() : 0;
  for (int block = 1; block <= blocks; ++block) columns.push_back(fmt::format("units {}", block));
  return best_and_last_table(log, rows, columns, [&](size_t row) {
    auto value = [&](const std::string& column) { return value_in(log, column, row); };
    std::vector<std::string> cells = {
        percent_text(value("val_accuracy")),
        percent_text(value("val_recall5")),
        number(value("val_loss")),
        percent_text(value("train_accuracy")),
        format_flops(value("flops")),
        fmt::format("{:.1f}", 100 * value("flops") / dense_flops_of(spec))};
    for (int block = 1; block <= blocks; ++block) {
      cells.push_back(number(value(fmt::format("units_{}", block))));
    }
    return cells;
  });
}

}  // namespace

Quantities ClassifierReport::quantities() const {
  return {{"loss", "cross_entropy", spec_.adaptive() ? "ponder_cost" : "", ""},
          size_t(spec_.blocks())};
}

std::vector<std::string> ClassifierReport::log_columns() const {
  std::vector<std::string> columns = {
      "epoch",       "rate",  "train_loss", "train_entropy", "train_accuracy", "val_accuracy",
      "val_recall5", "flops", "flops_std",  "dead_units",    "seconds",        "images_per_second"};
  for (int block = 0; block < spec_.blocks(); ++block) {
    columns.push_back(fmt::format("units_{}", block + 1));
    columns.push_back(fmt::format("units_{}_std", block + 1));
  }
  columns.insert(columns.end(), {"train_ponder_cost", "val_loss"});
  return columns;
}

std::vector<double> ClassifierReport::log_row(const EpochNumbers& numbers,
                                              const EvalOutcome* evaluation,
                                              double val_loss) const {
  auto evaluated = [&](double value) { return evaluation ? value : kNone; };
  const EvalOutcome found = evaluation ? *evaluation : EvalOutcome{};
  std::vector<double> row = {double(numbers.epoch),
                             numbers.rate,
                             numbers.means[kLossSum],
                             numbers.means[kEntropySum],
                             numbers.means[kCorrectSum],
                             evaluated(found.accuracy),
                             evaluated(found.recall5),
                             evaluated(found.flops.mean),
                             evaluated(found.flops.std),
                             double(dead_units_.count()),
                             numbers.seconds,
                             numbers.images_per_second};
  for (size_t block = 0; block < size_t(spec_.blocks()); ++block) {
    row.push_back(evaluation ? found.units[block].mean : kNone);
    row.push_back(evaluation ? found.units[block].std : kNone);
  }
  row.push_back(numbers.means[kPonderSum]);
  row.push_back(evaluated(val_loss));
  return row;
}

EpochReport ClassifierReport::epoch(const EpochNumbers& numbers, const EvalOutcome* evaluation,
                                    double val_loss) {
  EpochReport told;
  dead_units_.see(numbers, told);
  told.row = log_row(numbers, evaluation, val_loss);
  told.scalars = {{"train/loss", numbers.means[kLossSum]},
                  {"train/cross_entropy", numbers.means[kEntropySum]},
                  {"train/accuracy", numbers.means[kCorrectSum]},
                  {"train/rate", numbers.rate},
                  {"train/dead_units", dead_units_.count()}};
  if (spec_.adaptive()) {
    told.scalars.emplace_back("train/ponder_cost", numbers.means[kPonderSum]);
  }
  told.line = fmt::format(", training accuracy {:.2f} %", 100 * numbers.means[kCorrectSum]);
  if (evaluation) {
    told.scalars.insert(told.scalars.end(), {{"val/loss", val_loss},
                                             {"val/accuracy", evaluation->accuracy},
                                             {"val/recall5", evaluation->recall5},
                                             {"val/gflop", evaluation->flops.mean * 1e-9}});
    std::vector<std::string> units;
    for (size_t block = 0; block < evaluation->units.size(); ++block) {
      const double mean = evaluation->units[block].mean;
      told.scalars.emplace_back(fmt::format("val/units_{}", block + 1), mean);
      units.push_back(fmt::format("{:.2f}", mean));
    }
    told.line += fmt::format(", validation {:.2f} %, {}", 100 * evaluation->accuracy,
                             format_flops(evaluation->flops.mean));
    if (spec_.adaptive()) told.line += fmt::format(", units {}", fmt::join(units, " "));
  }
  told.line += fmt::format(", {:.0f} images/s", numbers.images_per_second);
  return told;
}

report::SummaryPage ClassifierReport::page(const report::CsvColumns& log) const {
  report::SummaryPage page;
  const auto rows = best_and_last(log, "val_accuracy");
  if (rows) {
    for (const auto& [name, row] : {std::pair("best", rows->best), std::pair("last", rows->last)}) {
      page.facts.push_back(
          {fmt::format("{} validation accuracy, epoch {:.0f}", name, value_in(log, "epoch", row)),
           fmt::format("{:.2f} %", 100 * value_in(log, "val_accuracy", row))});
    }
    const double flops = last_of(log, "flops");
    page.facts.push_back({"FLOPs per image", format_flops(flops)});
    page.facts.push_back(
        {"of the dense network", fmt::format("{:.1f} %", 100 * flops / dense_flops_of(spec_))});
    page.tables.push_back(best_and_last_epochs(log, *rows, spec_));
  }
  const int dead = dead_units_.count();
  page.facts.push_back(
      {"dead units", dead == 0 ? "none" : fmt::format("{} ({})", dead, dead_units_.text())});
  page.plots = run_plots(log, spec_);
  classes.add_to(page, spec_);
  return page;
}

}  // namespace sact::train
