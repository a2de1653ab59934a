#include "train/loop/run_log.h"

#include <cmath>
#include <limits>

#include "base/text.h"

namespace sact::train {

report::Series column_series(const report::CsvColumns& log, const std::string& column,
                             const std::string& name, double scale) {
  report::Series series;
  series.name = name;
  const auto* x = log.find("epoch");
  const auto* y = log.find(column);
  if (!x || !y) return series;
  for (size_t i = 0; i < y->size(); ++i) {
    if (!std::isfinite((*y)[i])) continue;
    series.x.push_back((*x)[i]);
    series.y.push_back((*y)[i] * scale);
  }
  return series;
}

void label_over_epochs(report::Plot& plot, const char* title, const char* quantity) {
  plot.title = title;
  plot.x_label = "epoch";
  plot.y_label = quantity;
}

double value_in(const report::CsvColumns& log, const std::string& column, size_t row) {
  const auto* values = log.find(column);
  return values && row < values->size() ? (*values)[row] : std::numeric_limits<double>::quiet_NaN();
}

double last_of(const report::CsvColumns& log, const std::string& column) {
  const auto rows = best_and_last(log, column);
  return value_in(log, column, rows ? rows->last : log.rows());
}

std::optional<BestAndLast> best_and_last(const report::CsvColumns& log, const std::string& column) {
  std::optional<BestAndLast> found;
  for (size_t row = 0; row < log.rows(); ++row) {
    const double value = value_in(log, column, row);
    if (!std::isfinite(value)) continue;
    if (!found) found = BestAndLast{row, row};
    if (value > value_in(log, column, found->best)) found->best = row;
    found->last = row;
  }
  return found;
}

report::Plot plot_over_flops(const report::CsvColumns& log, const std::string& column,
                             const char* title, const char* quantity) {
  report::Plot plot;
  plot.title = title;
  plot.x_label = "GFLOP per image";
  plot.y_label = quantity;
  const auto rows = best_and_last(log, column);
  if (!rows) return plot;
  auto add = [&](const char* name, size_t first, size_t last, bool line) {
    report::Series series;
    series.name = name;
    series.line = line;
    series.markers = true;
    for (size_t row = first; row <= last; ++row) {
      if (!std::isfinite(value_in(log, column, row))) continue;
      series.x.push_back(1e-9 * value_in(log, "flops", row));
      series.y.push_back(100 * value_in(log, column, row));
    }
    plot.series.push_back(std::move(series));
  };
  add("epochs", 0, rows->last, true);
  add("best", rows->best, rows->best, false);
  add("last", rows->last, rows->last, false);
  return plot;
}

report::Plot units_plot(const report::CsvColumns& log, int blocks) {
  report::Plot units;
  label_over_epochs(units, "Units per block", "mean units");
  for (int block = 1; block <= blocks; ++block) {
    units.series.push_back(
        column_series(log, fmt::format("units_{}", block), fmt::format("block {}", block)));
  }
  return units;
}

std::string percent_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}", 100 * share) : "";
}

report::PageTable best_and_last_table(
    const report::CsvColumns& log, const BestAndLast& rows, const std::vector<std::string>& columns,
    const std::function<std::vector<std::string>(size_t row)>& cells) {
  report::PageTable table{"Best and last epoch", {}};
  table.table.header = {"", "epoch"};
  table.table.header.insert(table.table.header.end(), columns.begin(), columns.end());
  table.table.align.resize(table.table.header.size(), report::ColumnAlign::kRight);
  table.table.align[0] = report::ColumnAlign::kLeft;
  for (const auto& [name, row] : {std::pair("best", rows.best), std::pair("last", rows.last)}) {
    std::vector<std::string> line = {name, fmt::format("{:.0f}", value_in(log, "epoch", row))};
    for (std::string& cell : cells(row)) line.push_back(std::move(cell));
    table.table.rows.push_back(std::move(line));
  }
  return table;
}

}  // namespace sact::train
