#include "app/evaluation_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "model/flops.h"
#include "model/result.h"
#include "report/csv.h"
#include "report/plot.h"

namespace sact::app {

report::Table outcome_table(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes) {
  report::Table table;
  table.header = {"size", "accuracy %", "recall@5 %", "GFLOP", "of dense %"};
  for (int block = 0; block < spec.blocks(); ++block) {
    table.header.push_back(fmt::format("units {}", block + 1));
  }
  table.header.insert(table.header.end(), {"images/s", "network alone"});
  for (const auto& outcome : outcomes) {
    std::vector<std::string> row = {
        fmt::format("{}×{}", outcome.size.height, outcome.size.width),
        fmt::format("{:.2f}", 100 * outcome.accuracy), fmt::format("{:.2f}", 100 * outcome.recall5),
        fmt::format("{:.3f} ± {:.3f}", outcome.flops.mean * 1e-9, outcome.flops.std * 1e-9),
        fmt::format("{:.1f}", 100 * outcome.flops.mean / double(dense_flops(spec, outcome.size)))};
    for (const auto& units : outcome.units) {
      row.push_back(fmt::format("{:.2f} ± {:.2f}", units.mean, units.std));
    }
    for (const double seconds : {outcome.seconds, outcome.network_seconds}) {
      row.push_back(fmt::format("{:.1f}", double(outcome.images) / seconds));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table outcome_numbers(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes) {
  report::Table table;
  table.header = {"height",  "width", "images",    "accuracy",
                  "recall5", "flops", "flops_std", "dense_flops"};
  for (int block = 0; block < spec.blocks(); ++block) {
    table.header.push_back(fmt::format("units_{}", block + 1));
    table.header.push_back(fmt::format("units_{}_std", block + 1));
  }
  table.header.insert(table.header.end(), {"images_per_second", "network_images_per_second"});
  for (const auto& outcome : outcomes) {
    std::vector<std::string> row;
    auto add = [&](double value) { row.push_back(fmt::format("{}", value)); };
    for (double value :
         {double(outcome.size.height), double(outcome.size.width), double(outcome.images),
          outcome.accuracy, outcome.recall5, outcome.flops.mean, outcome.flops.std,
          double(dense_flops(spec, outcome.size))}) {
      add(value);
    }
    for (const MeanStd& units : outcome.units) {
      add(units.mean);
      add(units.std);
    }
    for (double seconds : {outcome.seconds, outcome.network_seconds}) {
      add(double(outcome.images) / seconds);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string accuracy_plots(const std::vector<EvalOutcome>& outcomes) {
  report::Series by_size, by_flops;
  by_size.markers = by_flops.markers = true;
  for (const auto& outcome : outcomes) {
    by_size.x.push_back(std::sqrt(double(outcome.size.positions())));
    by_flops.x.push_back(outcome.flops.mean * 1e-9);
    by_flops.x_error.push_back(outcome.flops.std * 1e-9);
    by_size.y.push_back(100 * outcome.accuracy);
    by_flops.y.push_back(100 * outcome.accuracy);
  }
  report::Plot resolution, work;
  resolution.title = "Resolution";
  resolution.x_label = "image side";
  resolution.series = {by_size};
  work.title = "FLOPs";
  work.x_label = "GFLOP per image";
  work.series = {by_flops};
  resolution.y_label = work.y_label = "accuracy (%)";
  return report::to_svg({resolution, work}, 2);
}

PredictionsFile::PredictionsFile(const std::string& path) : file_(path) {
  file_.write(report::csv_row({"path", "height", "width", "label", "class", "score", "flops"}));
}

void PredictionsFile::add(const EvaluatedImage& image) {
  constexpr size_t kBufferBytes = 1 << 16;
  const ScoredClass best = top_classes(image.result.logits, 1).front();
  rows_ += report::csv_row({image.name, fmt::format("{}", image.size.height),
                            fmt::format("{}", image.size.width), fmt::format("{}", image.label),
                            fmt::format("{}", best.index), fmt::format("{:.6g}", best.score),
                            fmt::format("{}", image.result.flops)});
  if (rows_.size() > kBufferBytes) write_rows();
}

void PredictionsFile::commit() {
  write_rows();
  file_.commit();
}

void PredictionsFile::write_rows() {
  file_.write(std::exchange(rows_, {}));
}

}  // namespace sact::app
