#include "train/run_folder.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "report/ponder_sheet.h"
#include "train/network_weights.h"
#include "train/torch_runner.h"

namespace sact::train {
namespace {

namespace fs = std::filesystem;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> log_columns(const ModelSpec& spec) {
  std::vector<std::string> columns = {
      "epoch",       "rate",  "train_loss", "train_entropy", "train_accuracy", "val_accuracy",
      "val_recall5", "flops", "flops_std",  "dead_units",    "seconds",        "images_per_second"};
  for (int block = 0; block < spec.blocks(); ++block) {
    columns.push_back(fmt::format("units_{}", block + 1));
    columns.push_back(fmt::format("units_{}_std", block + 1));
  }
  return columns;
}

int total(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0);
}

/// "block 1: unit 5; block 3: units 2 to 4", or nothing. Later units are reached only through
/// earlier ones, so the dead are the last of their block.
std::string dead_units_text(const std::vector<int>& dead, const ModelSpec& spec) {
  std::vector<std::string> parts;
  for (size_t block = 0; block < dead.size(); ++block) {
    const int last = spec.units[block], first = last - dead[block] + 1;
    if (first > last) continue;
    parts.push_back(first == last
                        ? fmt::format("block {}: unit {}", block + 1, last)
                        : fmt::format("block {}: units {} to {}", block + 1, first, last));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<double> log_row(const EpochRecord& record, int blocks) {
  std::vector<double> row = {double(record.epoch),
                             record.rate,
                             record.loss,
                             record.entropy,
                             record.accuracy,
                             kNone,
                             kNone,
                             kNone,
                             kNone,
                             double(total(record.dead_units)),
                             record.seconds,
                             record.images_per_second};
  if (record.evaluation) {
    row[5] = record.evaluation->accuracy;
    row[6] = record.evaluation->recall5;
    row[7] = record.evaluation->flops.mean;
    row[8] = record.evaluation->flops.std;
  }
  for (int block = 0; block < blocks; ++block) {
    const auto* units = record.evaluation ? &record.evaluation->units[size_t(block)] : nullptr;
    row.push_back(units ? units->mean : kNone);
    row.push_back(units ? units->std : kNone);
  }
  return row;
}

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, accuracy, flops, units;
  label_over_epochs(loss, "Loss", "loss");
  loss.series = {column_series(log, "train_loss", "training loss"),
                 column_series(log, "train_entropy", "cross-entropy")};
  label_over_epochs(accuracy, "Accuracy", "accuracy (%)");
  accuracy.series = {column_series(log, "train_accuracy", "training", 100),
                     column_series(log, "val_accuracy", "validation", 100)};
  label_over_epochs(flops, "FLOPs", "GFLOP per image");
  flops.series = {column_series(log, "flops", "validation", 1e-9)};
  label_over_epochs(units, "Units per block", "mean units");
  for (int block = 0; block < spec.blocks(); ++block) {
    units.series.push_back(
        column_series(log, fmt::format("units_{}", block + 1), fmt::format("block {}", block + 1)));
  }
  return {loss, accuracy, flops, units};
}

RunSettings run_settings(const TrainSettings& settings) {
  return {to_json(settings), [settings](const std::string& stored, const std::string& name) {
            return differences(settings_from_json(stored, name), settings);
          }};
}

}  // namespace

RunFolder::RunFolder(fs::path path, const TrainSettings& settings)
    : settings_(settings), directory_(std::move(path), run_settings(settings)) {}

void RunFolder::begin(const ModelSpec& spec, const Progression& progression) {
  spec_ = spec;
  directory_.begin(log_columns(spec), progression);
}

void RunFolder::write_model(const std::string& name, Network network) {
  directory_.write_model(name, network->spec(), network_weights(network));
}

void RunFolder::write_samples(Network network, const data::Dataset& dataset, int count, Size size,
                              torch::Device device, int64_t epoch) {
  if (count == 0 || !network->spec().adaptive()) return;
  torch::NoGradGuard no_grad;
  const bool was_training = network->is_training();
  network->eval();
  const ModelSpec& spec = network->spec();
  report::PonderSheet samples;
  count = int(std::min<int64_t>(count, dataset.size()));
  for (int i = 0; i < count; ++i) {
    // Spread over the set, which is ordered by class.
    const int64_t index = int64_t(i) * dataset.size() / count;
    io::Image image;
    try {
      image = dataset.load(index).image;
    } catch (const Error&) {
      continue;  // named when it was met in a batch
    }
    const io::Crop crop = io::central_crop(image, spec.input.crop);
    std::vector<float> input = network_input(image, crop, size, spec.input);
    const torch::Tensor images =
        torch::from_blob(input.data(), {1, 3, size.height, size.width}, torch::kFloat32).to(device);
    const ImageResult result = std::move(results_of(spec, network->forward(images), size).front());
    samples.add(io::cut(image, crop), ponder_cost_map(result),
                fmt::format("{}\nponder cost {:.2f}",
                            printable(spec.label(top_classes(result.logits, 1)[0].index)),
                            ponder_cost(result)));
  }
  if (was_training) network->train();
  if (samples.size() == 0) return;
  directory_.write_samples(samples.draw(4), "ponder maps", epoch);
}

void RunFolder::record(const EpochRecord& record, int64_t step) {
  report::EventWriter& events = directory_.events();
  directory_.append(log_row(record, spec_.blocks()));
  events.add_scalar("train/loss", record.loss, step);
  events.add_scalar("train/cross_entropy", record.entropy, step);
  events.add_scalar("train/accuracy", record.accuracy, step);
  events.add_scalar("train/rate", record.rate, step);
  events.add_scalar("train/dead_units", total(record.dead_units), step);
  std::string line =
      fmt::format("epoch {}/{}: loss {:.4f}, training accuracy {:.2f} %", record.epoch,
                  settings_.epochs, record.loss, 100 * record.accuracy);
  if (record.evaluation) {
    const EvalOutcome& evaluation = *record.evaluation;
    events.add_scalar("val/accuracy", evaluation.accuracy, step);
    events.add_scalar("val/recall5", evaluation.recall5, step);
    events.add_scalar("val/gflop", evaluation.flops.mean * 1e-9, step);
    std::vector<std::string> units;
    for (size_t block = 0; block < evaluation.units.size(); ++block) {
      events.add_scalar(fmt::format("val/units_{}", block + 1), evaluation.units[block].mean, step);
      units.push_back(fmt::format("{:.2f}", evaluation.units[block].mean));
    }
    line += fmt::format(", validation {:.2f} %, {}", 100 * evaluation.accuracy,
                        format_flops(evaluation.flops.mean));
    if (spec_.adaptive()) line += fmt::format(", units {}", fmt::join(units, " "));
  }
  log_info("{}, {:.0f} images/s", line, record.images_per_second);
  report_dead_units(record);
  events.flush();
  write_plots(record);
}

/// A warning when there are other dead units than before, not in every epoch.
void RunFolder::report_dead_units(const EpochRecord& record) {
  const std::string dead = dead_units_text(record.dead_units, spec_);
  if (dead == dead_units_) return;
  dead_units_ = dead;
  if (dead.empty()) {
    log_info("no unit is dead any more");
  } else {
    log_warning(
        "{} of {} units are dead, no position reached them in epoch {} ({}); if that stays so, a "
        "smaller tau or halting_bias lets more positions go on",
        total(record.dead_units), spec_.total_units(), record.epoch, dead);
  }
}

void RunFolder::write_plots(const EpochRecord& record) {
  const report::CsvColumns log = directory_.log();
  report::SummaryPage page;
  page.subtitle = fmt::format("{} network with units {} on {}", name_of(spec_.halting),
                              fmt::join(spec_.units, ","), settings_.data);
  page.facts = {
      {"epochs", fmt::format("{:.0f} of {}", last_of(log, "epoch"), settings_.epochs)},
      {"validation accuracy", fmt::format("{:.2f} %", 100 * last_of(log, "val_accuracy"))},
      {"FLOPs per image", format_flops(last_of(log, "flops"))},
      {"dead units", total(record.dead_units) == 0
                         ? "none"
                         : fmt::format("{} ({})", total(record.dead_units),
                                       dead_units_text(record.dead_units, spec_))}};
  page.plots = run_plots(log, spec_);
  directory_.write_summary(std::move(page), "ponder cost over validation images");
}

}  // namespace sact::train
