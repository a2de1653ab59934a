#include "app/coco_report.h"

#include <fmt/format.h>

#include "base/error.h"
#include "report/table.h"

namespace sact::app {
namespace {

std::string percent(double share) {
  return share < 0 ? "n/a" : fmt::format("{:.1f}", 100 * share);
}

report::Table category_table(const detect::CocoEvaluation& evaluation) {
  report::Table table;
  table.header = {"category", "objects", "AP", "AP50", "AP75", "AR100"};
  for (const detect::CategoryMetrics& category : evaluation.categories) {
    if (category.objects == 0) continue;
    const detect::CocoMetrics& metrics = category.metrics;
    table.rows.push_back({printable(category.category.name, 40),
                          fmt::format("{}", category.objects), percent(metrics[detect::kAp]),
                          percent(metrics[detect::kAp50]), percent(metrics[detect::kAp75]),
                          percent(metrics[detect::kAr100])});
  }
  table.align = {report::ColumnAlign::kLeft};
  return table;
}

}  // namespace

std::string evaluation_text(const detect::CocoEvaluation& evaluation) {
  const report::Table table = category_table(evaluation);
  return (table.rows.empty() ? "" : report::to_text(table) + '\n') +
         detect::coco_summary(evaluation.metrics);
}

}  // namespace sact::app
