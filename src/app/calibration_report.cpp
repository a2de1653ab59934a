// What is shown of a calibration.
#include <fmt/format.h>

#include "app/calibration.h"
#include "report/plot.h"

namespace sact::app {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string shift_text(double shift) {
  return shift == 0 ? "0" : fmt::format("{:+g}", shift);
}

/// A quantity in percent over the share of FLOPs, with the shift beside each point.
report::Series over_work(const Dial& dial, const std::string& name,
                         const std::function<double(const DialPoint&)>& value, bool labels) {
  report::Series series;
  series.name = name;
  series.markers = true;
  for (const DialPoint& point : dial.points) {
    series.x.push_back(100 * point.flops_share.mean);
    series.y.push_back(100 * value(point));
    if (labels) series.labels.push_back(shift_text(point.shift));
  }
  return series;
}

}  // namespace

report::Table dial_table(const Dial& dial) {
  const DialPoint& any = dial.points.front();
  report::Table table;
  table.header = {"shift", "of dense %"};
  for (size_t block = 0; block < any.units.size(); ++block) {
    table.header.push_back(fmt::format("units {}", block + 1));
  }
  table.header.emplace_back("agreement %");
  if (any.dense_agreement) table.header.emplace_back("with --dense %");
  if (any.accuracy) table.header.emplace_back("accuracy %");
  for (const DialPoint& point : dial.points) {
    std::vector<std::string> row = {
        fmt::format("{:+.2f}", point.shift),
        fmt::format("{} ± {}", percent(point.flops_share.mean), percent(point.flops_share.std))};
    for (const double units : point.units) row.push_back(fmt::format("{:.2f}", units));
    row.push_back(percent(point.agreement));
    if (point.dense_agreement) row.push_back(percent(*point.dense_agreement));
    if (point.accuracy) row.push_back(percent(*point.accuracy));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string dial_plots(const Dial& dial) {
  const DialPoint& any = dial.points.front();
  report::Plot quality, work;
  quality.title = "What the work buys";
  quality.x_label = "share of the dense network's FLOPs (%)";
  quality.y_label = "share of images (%)";
  quality.series = {over_work(
      dial, "agreement", [](const DialPoint& p) { return p.agreement; }, true)};
  if (any.dense_agreement) {
    quality.series.push_back(over_work(
        dial, "with --dense", [](const DialPoint& p) { return *p.dense_agreement; }, false));
  }
  if (any.accuracy) {
    quality.series.push_back(over_work(
        dial, "accuracy", [](const DialPoint& p) { return *p.accuracy; }, false));
  }
  work.title = "The dial";
  work.x_label = "halting shift";
  work.y_label = "share of the dense network's FLOPs (%)";
  report::Series share;
  share.markers = true;
  for (const DialPoint& point : dial.points) {
    share.x.push_back(point.shift);
    share.y.push_back(100 * point.flops_share.mean);
    share.y_error.push_back(100 * point.flops_share.std);
  }
  work.series = {share};
  return report::to_svg({quality, work}, 2);
}

}  // namespace sact::app
