#include "train/detect/report.h"

#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "train/detect/loss.h"
#include "train/loop/run_log.h"

namespace sact::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

int extractor_blocks(const ModelSpec& spec) {
  return spec.blocks() - 1;
}

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, precision, flops;
  label_over_epochs(loss, "Loss", "loss");
  loss.series = {column_series(log, "loss", "all")};
  for (const char* name : kDetectionLossNames) {
    if (std::string_view(name).ends_with("ponder")) continue;  // has another scale
    loss.series.push_back(column_series(log, fmt::format("loss_{}", name), name));
  }
  label_over_epochs(precision, "Average precision", "%");
  precision.series = {column_series(log, "AP", "AP", 100), column_series(log, "AP50", "AP50", 100),
                      column_series(log, "AP75", "AP75", 100)};
  label_over_epochs(flops, "FLOPs of the extractor", "GFLOP per image");
  flops.series = {column_series(log, "flops", "validation", 1e-9),
                  column_series(log, "dense_flops", "dense", 1e-9)};
  if (!spec.adaptive()) return {loss, precision};  // its FLOPs and units stay as they are
  return {loss, precision, plot_over_flops(log, "AP", "AP over FLOPs of the extractor", "AP (%)"),
          flops, units_plot(log, extractor_blocks(spec))};
}

report::PageTable best_and_last_epochs(const report::CsvColumns& log, const BestAndLast& rows) {
  std::vector<std::string> columns(detect::kCocoMetricKeys.begin(), detect::kCocoMetricKeys.end());
  columns.insert(columns.end(), {"GFLOP", "of dense %"});
  return best_and_last_table(log, rows, columns, [&](size_t row) {
    std::vector<std::string> cells;
    for (std::string_view key : detect::kCocoMetricKeys) {
      cells.push_back(detect::metric_text(value_in(log, std::string(key), row)));
    }
    const double flops = value_in(log, "flops", row);
    cells.push_back(fmt::format("{:.3f}", flops * 1e-9));
    cells.push_back(fmt::format("{:.1f}", 100 * flops / value_in(log, "dense_flops", row)));
    return cells;
  });
}

}  // namespace

Quantities DetectorReport::quantities() const {
  Quantities quantities{{"loss"}};
  quantities.sums.insert(quantities.sums.end(), kDetectionLossNames.begin(),
                         kDetectionLossNames.end());
  quantities.sums.insert(quantities.sums.end(), kDetectionWorkNames.begin(),
                         kDetectionWorkNames.end());
  return quantities;
}

std::vector<std::string> DetectorReport::log_columns() const {
  std::vector<std::string> columns = {"epoch", "rate", "loss"};
  for (const char* name : kDetectionLossNames) columns.push_back(fmt::format("loss_{}", name));
  columns.insert(columns.end(), kDetectionWorkNames.begin(), kDetectionWorkNames.end());
  columns.insert(columns.end(), {"seconds", "images_per_second", "flops", "flops_std",
                                 "dense_flops", "val_head_share"});
  for (std::string_view key : detect::kCocoMetricKeys) columns.emplace_back(key);
  for (int block = 0; block < extractor_blocks(spec_); ++block) {
    columns.push_back(fmt::format("units_{}", block + 1));
  }
  return columns;
}

std::vector<double> DetectorReport::log_row(const EpochNumbers& numbers,
                                            const DetectorOutcome* evaluation) const {
  std::vector<double> row = {double(numbers.epoch), numbers.rate};
  row.insert(row.end(), numbers.means.begin(), numbers.means.end());
  row.insert(row.end(), {numbers.seconds, numbers.images_per_second});
  if (evaluation) {
    row.insert(row.end(), {evaluation->flops.mean, evaluation->flops.std, evaluation->dense_flops,
                           evaluation->head_share});
    for (double metric : evaluation->metrics) row.push_back(metric >= 0 ? metric : kNone);
    for (const MeanStd& units : evaluation->units) row.push_back(units.mean);
  }
  row.resize(log_columns().size(), kNone);
  return row;
}

EpochReport DetectorReport::epoch(const EpochNumbers& numbers,
                                  const DetectorOutcome* evaluation) const {
  EpochReport told;
  told.row = log_row(numbers, evaluation);
  const Quantities names = quantities();
  for (size_t i = 0; i < numbers.means.size(); ++i) {
    told.scalars.emplace_back("train/" + names.sums[i], numbers.means[i]);
  }
  told.scalars.emplace_back("train/rate", numbers.rate);
  if (evaluation) {
    for (size_t i = 0; i < evaluation->metrics.size(); ++i) {
      if (evaluation->metrics[i] < 0) continue;
      told.scalars.emplace_back(fmt::format("val/{}", detect::kCocoMetricKeys[i]),
                                evaluation->metrics[i]);
    }
    told.scalars.emplace_back("val/gflop", evaluation->flops.mean * 1e-9);
    told.line = fmt::format(", AP {}, AP50 {}, extractor {}",
                            detect::metric_text(evaluation->metrics[detect::kAp]),
                            detect::metric_text(evaluation->metrics[detect::kAp50]),
                            format_flops(evaluation->flops.mean));
    if (spec_.adaptive()) {
      told.line += fmt::format(" ({:.0f} % of dense), head {:.0f} %",
                               100 * evaluation->flops.mean / evaluation->dense_flops,
                               100 * evaluation->head_share);
    }
  }
  told.line += fmt::format(", {:.1f} images/s", numbers.images_per_second);
  return told;
}

report::SummaryPage DetectorReport::page(const report::CsvColumns& log) const {
  report::SummaryPage page;
  const auto rows = best_and_last(log, "AP");
  if (rows) page.tables.push_back(best_and_last_epochs(log, *rows));
  const double best = rows ? value_in(log, "AP", rows->best) : kNone;
  page.facts = {{"best AP", detect::metric_text(best)},
                {"last AP", detect::metric_text(last_of(log, "AP"))},
                {"last AP50", detect::metric_text(last_of(log, "AP50"))},
                {"FLOPs of the extractor", format_flops(last_of(log, "flops"))},
                {"of dense", fmt::format("{:.0f} %", 100 * last_of(log, "flops") /
                                                         last_of(log, "dense_flops"))}};
  page.plots = run_plots(log, spec_);
  return page;
}

}  // namespace sact::train
