#include "train/adapt/report.h"

#include <cmath>
#include <limits>

#include "base/text.h"
#include "train/loop/run_log.h"

namespace sact::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kTolerance = 0.02;  // of the dense FLOPs, above the budget

std::string number(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string();
}

}  // namespace

double adapt_score(const AdaptEvaluation& evaluation, double budget) {
  const double likeness = std::exp(-evaluation.divergence);
  if (!std::isfinite(likeness)) return 0;
  const double excess = evaluation.share.mean - budget;
  if (budget == 0 || excess <= kTolerance) return 1 + likeness;
  return 1 / (1 + excess);
}

Quantities AdaptReport::quantities() const {
  return {{"loss", "kl", "features", "ponder_cost", "agreement", "share", "tau"},
          size_t(spec_.blocks())};
}

std::vector<std::string> AdaptReport::log_columns() const {
  std::vector<std::string> columns = {"epoch",
                                      "rate",
                                      "tau",
                                      "train_loss",
                                      "train_kl",
                                      "train_features",
                                      "train_ponder_cost",
                                      "train_agreement",
                                      "train_share",
                                      "val_kl",
                                      "val_agreement",
                                      "val_accuracy",
                                      "share",
                                      "share_std",
                                      "flops",
                                      "flops_std",
                                      "score",
                                      "dead_units",
                                      "seconds",
                                      "images_per_second"};
  for (int block = 1; block <= spec_.blocks(); ++block) {
    columns.push_back(fmt::format("units_{}", block));
    columns.push_back(fmt::format("units_{}_std", block));
  }
  return columns;
}

std::string AdaptReport::text_of(const AdaptEvaluation& evaluation) {
  std::vector<std::string> units;
  for (const MeanStd& block : evaluation.student.units) {
    units.push_back(fmt::format("{:.2f}", block.mean));
  }
  std::string text =
      fmt::format("KL {:.4f}, agreement {:.2f} %, {:.1f} ± {:.1f} % of dense FLOPs, units {}",
                  evaluation.divergence, 100 * evaluation.student.accuracy,
                  100 * evaluation.share.mean, 100 * evaluation.share.std, fmt::join(units, " "));
  if (evaluation.accuracy) text += fmt::format(", accuracy {:.2f} %", 100 * *evaluation.accuracy);
  return text;
}

std::vector<std::pair<std::string, double>> AdaptReport::scalars(
    const AdaptEvaluation& evaluation) {
  std::vector<std::pair<std::string, double>> list = {
      {"val/kl", evaluation.divergence},
      {"val/agreement", evaluation.student.accuracy},
      {"val/share", evaluation.share.mean},
      {"val/gflop", evaluation.student.flops.mean * 1e-9}};
  if (evaluation.accuracy) list.emplace_back("val/accuracy", *evaluation.accuracy);
  for (size_t block = 0; block < evaluation.student.units.size(); ++block) {
    list.emplace_back(fmt::format("val/units_{}", block + 1), evaluation.student.units[block].mean);
  }
  return list;
}

EpochReport AdaptReport::epoch(const EpochNumbers& numbers, const AdaptEvaluation* evaluation) {
  EpochReport told;
  dead_units_.see(numbers, told);
  auto evaluated = [&](double value) { return evaluation ? value : kNone; };
  const AdaptEvaluation found = evaluation ? *evaluation : AdaptEvaluation{};
  told.row = {double(numbers.epoch),
              numbers.rate,
              numbers.means[kTau],
              numbers.means[kAdaptLoss],
              numbers.means[kDivergence],
              numbers.means[kFeatureDistance],
              numbers.means[kWeightedPonder],
              numbers.means[kAgreement],
              numbers.means[kShare],
              evaluated(found.divergence),
              evaluated(found.student.accuracy),
              evaluated(found.accuracy.value_or(kNone)),
              evaluated(found.share.mean),
              evaluated(found.share.std),
              evaluated(found.student.flops.mean),
              evaluated(found.student.flops.std),
              evaluated(adapt_score(found, budget_)),
              double(dead_units_.count()),
              numbers.seconds,
              numbers.images_per_second};
  for (size_t block = 0; block < size_t(spec_.blocks()); ++block) {
    told.row.push_back(evaluation ? found.student.units[block].mean : kNone);
    told.row.push_back(evaluation ? found.student.units[block].std : kNone);
  }
  told.scalars = {{"train/loss", numbers.means[kAdaptLoss]},
                  {"train/kl", numbers.means[kDivergence]},
                  {"train/features", numbers.means[kFeatureDistance]},
                  {"train/ponder_cost", numbers.means[kWeightedPonder]},
                  {"train/agreement", numbers.means[kAgreement]},
                  {"train/share", numbers.means[kShare]},
                  {"train/tau", numbers.means[kTau]},
                  {"train/rate", numbers.rate},
                  {"train/dead_units", double(dead_units_.count())}};
  told.line = fmt::format(", tau {:.3g}", numbers.means[kTau]);
  if (evaluation) {
    const auto more = scalars(*evaluation);
    told.scalars.insert(told.scalars.end(), more.begin(), more.end());
    told.line += "; " + text_of(*evaluation);
  }
  told.line += fmt::format(", {:.0f} images/s", numbers.images_per_second);
  return told;
}

std::vector<report::Plot> AdaptReport::plots(const report::CsvColumns& log) const {
  report::Plot divergence, agreement, share, weight;
  label_over_epochs(divergence, "Divergence", "KL to the dense network");
  divergence.series = {column_series(log, "train_kl", "training"),
                       column_series(log, "val_kl", "validation")};
  label_over_epochs(agreement, "Agreement", "same answer as the dense network (%)");
  agreement.series = {column_series(log, "train_agreement", "training", 100),
                      column_series(log, "val_agreement", "validation", 100)};
  label_over_epochs(share, "FLOPs", "% of the dense network");
  share.series = {column_series(log, "train_share", "training", 100),
                  column_series(log, "share", "validation", 100)};
  if (budget_ > 0) {
    report::Series wanted = column_series(log, "epoch", "budget");
    wanted.y.assign(wanted.x.size(), 100 * budget_);
    wanted.secondary = true;
    share.series.push_back(std::move(wanted));
  }
  label_over_epochs(weight, "Weight of the ponder cost", "tau");
  weight.series = {column_series(log, "tau", "")};
  return {divergence,
          agreement,
          plot_over_flops(log, "val_agreement", "Agreement over FLOPs", "agreement (%)"),
          share,
          weight,
          units_plot(log, spec_.blocks())};
}

report::PageTable AdaptReport::epochs_table(const report::CsvColumns& log,
                                            const BestAndLast& rows) const {
  std::vector<std::string> columns = {"KL", "agreement %", "accuracy %", "FLOPs", "of dense %"};
  for (int block = 1; block <= spec_.blocks(); ++block) {
    columns.push_back(fmt::format("units {}", block));
  }
  return best_and_last_table(log, rows, columns, [&](size_t row) {
    auto value = [&](const std::string& column) { return value_in(log, column, row); };
    std::vector<std::string> cells = {
        number(value("val_kl"), "{:.4f}"), percent_text(value("val_agreement")),
        percent_text(value("val_accuracy")), format_flops(value("flops")),
        number(100 * value("share"), "{:.1f}")};
    for (int block = 1; block <= spec_.blocks(); ++block) {
      cells.push_back(number(value(fmt::format("units_{}", block)), "{:.3f}"));
    }
    return cells;
  });
}

report::SummaryPage AdaptReport::page(const report::CsvColumns& log) const {
  report::SummaryPage page;
  if (const auto rows = best_and_last(log, "score")) {
    for (const auto& [name, row] : {std::pair("best", rows->best), std::pair("last", rows->last)}) {
      page.facts.push_back(
          {fmt::format("{} model, epoch {:.0f}: agreement", name, value_in(log, "epoch", row)),
           fmt::format("{:.2f} %", 100 * value_in(log, "val_agreement", row))});
      page.facts.push_back({fmt::format("{} model: FLOPs of the dense network", name),
                            fmt::format("{:.1f} %", 100 * value_in(log, "share", row))});
    }
    page.tables.push_back(epochs_table(log, *rows));
  }
  if (budget_ > 0) page.facts.push_back({"budget", fmt::format("{:.1f} %", 100 * budget_)});
  const int dead = dead_units_.count();
  page.facts.push_back(
      {"dead units", dead == 0 ? "none" : fmt::format("{} ({})", dead, dead_units_.text())});
  page.plots = plots(log);
  return page;
}

}  // namespace sact::train
