// Reading the log of a run: its curves, its best and its last epoch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/csv.h"
#include "report/plot.h"
#include "report/summary_page.h"

namespace sact::train {

/// A column of a log over its epochs, without the lines that have no number there.
report::Series column_series(const report::CsvColumns& log, const std::string& column,
                             const std::string& name, double scale = 1);
void label_over_epochs(report::Plot& plot, const char* title, const char* quantity);
/// The last number of a column; NaN when there is none.
double last_of(const report::CsvColumns& log, const std::string& column);

/// The epochs of a log that matter: the first with the highest number in `column`, and the last
/// with any.
struct BestAndLast {
  size_t best = 0, last = 0;  // rows
};
/// Nothing when there is no such number.
std::optional<BestAndLast> best_and_last(const report::CsvColumns& log, const std::string& column);
/// The number in a row; NaN for a column that is not there.
double value_in(const report::CsvColumns& log, const std::string& column, size_t row);

/// "84.73" for 0.8473, for cells of tables; empty for what is not finite.
std::string percent_text(double share);

/// The best and the last epoch side by side: after their names and numbers, `cells` of their rows
/// of the log under `columns`.
report::PageTable best_and_last_table(
    const report::CsvColumns& log, const BestAndLast& rows, const std::vector<std::string>& columns,
    const std::function<std::vector<std::string>(size_t row)>& cells);

/// A quantity over the FLOPs of its epochs, the best and the last of them marked.
report::Plot plot_over_flops(const report::CsvColumns& log, const std::string& column,
                             const char* title, const char* quantity);

/// The mean units of each block.
report::Plot units_plot(const report::CsvColumns& log, int blocks);

}  // namespace sact::train
