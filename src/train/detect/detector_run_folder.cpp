#include "train/detect/detector_run_folder.h"

#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "report/ponder_sheet.h"
#include "train/detect/detection_loss.h"
#include "train/detect/example_feeder.h"

namespace sact::train {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

RunSettings run_settings(const DetectionSettings& settings) {
  return {to_json(settings), [settings](const std::string& stored, const std::string& name) {
            return differences(detection_settings_from_json(stored, name), settings);
          }};
}

int extractor_blocks(const ModelSpec& spec) {
  return spec.blocks() - 1;
}

std::vector<std::string> log_columns(const ModelSpec& spec) {
  std::vector<std::string> columns = {"epoch", "rate", "loss"};
  for (const char* name : kDetectionLossNames) columns.push_back(fmt::format("loss_{}", name));
  columns.insert(columns.end(),
                 {"seconds", "images_per_second", "flops", "flops_std", "dense_flops"});
  for (std::string_view key : detect::kCocoMetricKeys) columns.emplace_back(key);
  for (int block = 0; block < extractor_blocks(spec); ++block) {
    columns.push_back(fmt::format("units_{}", block + 1));
  }
  return columns;
}

std::vector<double> log_row(const DetectorEpoch& record, int blocks) {
  std::vector<double> row = {double(record.epoch), record.rate, record.loss};
  row.insert(row.end(), record.losses.begin(), record.losses.end());
  row.insert(row.end(), {record.seconds, record.images_per_second});
  const auto& evaluation = record.evaluation;
  if (!evaluation) {
    row.resize(row.size() + 3 + detect::kCocoMetricCount + size_t(blocks), kNone);
    return row;
  }
  row.insert(row.end(), {evaluation->flops.mean, evaluation->flops.std, evaluation->dense_flops});
  for (double metric : evaluation->metrics) row.push_back(metric >= 0 ? metric : kNone);
  for (const MeanStd& units : evaluation->units) row.push_back(units.mean);
  return row;
}

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, precision, flops, units;
  label_over_epochs(loss, "Loss", "loss");
  loss.series = {column_series(log, "loss", "all")};
  for (const char* name : kDetectionLossNames) {
    if (std::string_view(name) == "ponder") continue;  // has another scale
    loss.series.push_back(column_series(log, fmt::format("loss_{}", name), name));
  }
  label_over_epochs(precision, "Average precision", "%");
  precision.series = {column_series(log, "AP", "AP", 100), column_series(log, "AP50", "AP50", 100),
                      column_series(log, "AP75", "AP75", 100)};
  label_over_epochs(flops, "FLOPs of the extractor", "GFLOP per image");
  flops.series = {column_series(log, "flops", "validation", 1e-9),
                  column_series(log, "dense_flops", "dense", 1e-9)};
  if (!spec.adaptive()) return {loss, precision};  // its FLOPs and units stay as they are
  label_over_epochs(units, "Units per block", "mean units");
  for (int block = 0; block < extractor_blocks(spec); ++block) {
    units.series.push_back(
        column_series(log, fmt::format("units_{}", block + 1), fmt::format("block {}", block + 1)));
  }
  return {loss, precision, plot_over_flops(log, "AP", "AP over FLOPs of the extractor", "AP (%)"),
          flops, units};
}

/// The best and the last epoch side by side.
report::PageTable best_and_last_table(const report::CsvColumns& log, const BestAndLast& rows) {
  report::PageTable table{"Best and last epoch", {}};
  table.table.header = {"", "epoch"};
  for (std::string_view key : detect::kCocoMetricKeys) table.table.header.emplace_back(key);
  table.table.header.insert(table.table.header.end(), {"GFLOP", "of dense %"});
  for (const auto& [name, row] : {std::pair("best", rows.best), std::pair("last", rows.last)}) {
    const double flops = value_in(log, "flops", row);
    std::vector<std::string> cells = {name, fmt::format("{:.0f}", value_in(log, "epoch", row))};
    for (std::string_view key : detect::kCocoMetricKeys) {
      cells.push_back(detect::metric_text(value_in(log, std::string(key), row)));
    }
    cells.push_back(fmt::format("{:.3f}", flops * 1e-9));
    cells.push_back(fmt::format("{:.1f}", 100 * flops / value_in(log, "dense_flops", row)));
    table.table.rows.push_back(std::move(cells));
  }
  return table;
}

io::Image image_of(const torch::Tensor& pixels) {
  io::Image image(int(pixels.size(2)), int(pixels.size(1)));
  const torch::Tensor rows = pixels.round().to(torch::kUInt8).permute({1, 2, 0}).contiguous();
  std::copy_n(rows.data_ptr<uint8_t>(), image.rgb.size(), image.rgb.begin());
  return image;
}

}  // namespace

DetectorRunFolder::DetectorRunFolder(std::filesystem::path path, const DetectionSettings& settings)
    : settings_(settings), directory_(std::move(path), run_settings(settings)) {}

void DetectorRunFolder::begin(const ModelSpec& spec, const Progression& progression) {
  spec_ = spec;
  directory_.begin(log_columns(spec), progression);
}

void DetectorRunFolder::write_model(const std::string& name, Detector detector) {
  directory_.write_model(name, detector->spec(), detector_weights(detector));
}

void DetectorRunFolder::write_samples(Detector detector, const detect::Examples& examples,
                                      int count, torch::Device device, int64_t epoch) {
  report::PonderSheet sheet;
  count = int(std::min<int64_t>(count, examples.size()));
  for (int i = 0; i < count; ++i) {
    FedExample example;
    try {
      example = read_example(examples, int64_t(i) * examples.size() / count, *spec_.detection,
                             false, false);
    } catch (const Error&) {
      continue;  // named when it was met in the evaluation
    }
    const DetectionOutput output =
        detect(detector, network_input(example, spec_.input, device), {0.3f});
    std::string caption = output.detections.empty() ? "nothing found" : "";
    std::vector<report::DrawnObject> objects;
    for (const detect::Detection& found : output.detections) {
      constexpr size_t kNamed = 3;
      if (objects.size() < kNamed) {
        caption += fmt::format("{}{} {:.0f} %", objects.empty() ? "" : "\n",
                               printable(spec_.label(found.label)), 100 * found.score);
      }
      objects.push_back({found.box, found.label, {}});
    }
    sheet.add(image_of(example.pixels), ponder_cost_map(output.extracted), caption,
              std::move(objects));
  }
  if (sheet.size() > 0) directory_.write_samples(sheet.draw(2), "ponder maps", epoch);
}

void DetectorRunFolder::record(const DetectorEpoch& record, int64_t step) {
  directory_.append(log_row(record, extractor_blocks(spec_)));
  report::EventWriter& events = directory_.events();
  events.add_scalar("train/loss", record.loss, step);
  events.add_scalar("train/rate", record.rate, step);
  for (size_t i = 0; i < record.losses.size(); ++i) {
    events.add_scalar(fmt::format("train/{}", kDetectionLossNames[i]), record.losses[i], step);
  }
  std::string line =
      fmt::format("epoch {}/{}: loss {:.4f}", record.epoch, settings_.epochs, record.loss);
  if (record.evaluation) {
    const DetectorOutcome& evaluation = *record.evaluation;
    for (size_t i = 0; i < evaluation.metrics.size(); ++i) {
      if (evaluation.metrics[i] < 0) continue;
      events.add_scalar(fmt::format("val/{}", detect::kCocoMetricKeys[i]), evaluation.metrics[i],
                        step);
    }
    events.add_scalar("val/gflop", evaluation.flops.mean * 1e-9, step);
    line += fmt::format(", AP {}, AP50 {}, extractor {}",
                        detect::metric_text(evaluation.metrics[detect::kAp]),
                        detect::metric_text(evaluation.metrics[detect::kAp50]),
                        format_flops(evaluation.flops.mean));
    if (spec_.adaptive()) {
      line +=
          fmt::format(" ({:.0f} % of dense)", 100 * evaluation.flops.mean / evaluation.dense_flops);
    }
  }
  log_info("{}, {:.1f} images/s{}", line, record.images_per_second, record.time_left);
  events.flush();
  write_summary();
}

void DetectorRunFolder::record_steps(const std::vector<double>& losses, double rate, int64_t step) {
  report::EventWriter& events = directory_.events();
  events.add_scalar("step/loss", losses[0], step);
  for (size_t i = 1; i < losses.size(); ++i) {
    events.add_scalar(fmt::format("step/{}", kDetectionLossNames[i - 1]), losses[i], step);
  }
  events.add_scalar("step/rate", rate, step);
  events.flush();
}

StoredDetectorNumbers DetectorRunFolder::stored() const {
  if (!directory_.has_log()) return {kNone, kNone, kNone};
  const report::CsvColumns log = directory_.log();
  const auto rows = best_and_last(log, "AP");
  return {last_of(log, "AP"), rows ? value_in(log, "AP", rows->best) : kNone,
          last_of(log, "flops")};
}

void DetectorRunFolder::write_summary() {
  const report::CsvColumns log = directory_.log();
  report::SummaryPage page;
  page.subtitle = fmt::format("{} detector with units {} on {}", name_of(spec_.halting),
                              fmt::join(spec_.units, ","), settings_.data);
  const auto rows = best_and_last(log, "AP");
  if (rows) page.tables.push_back(best_and_last_table(log, *rows));
  const double best = rows ? value_in(log, "AP", rows->best) : kNone;
  page.facts = {{"epochs", fmt::format("{:.0f} of {}", last_of(log, "epoch"), settings_.epochs)},
                {"best AP", detect::metric_text(best)},
                {"last AP", detect::metric_text(last_of(log, "AP"))},
                {"last AP50", detect::metric_text(last_of(log, "AP50"))},
                {"FLOPs of the extractor", format_flops(last_of(log, "flops"))},
                {"of dense", fmt::format("{:.0f} %", 100 * last_of(log, "flops") /
                                                         last_of(log, "dense_flops"))}};
  page.plots = run_plots(log, spec_);
  directory_.write_summary(std::move(page), "ponder cost over validation images");
}

}  // namespace sact::train
