#include "train/run_folder.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "io/json.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "report/plot.h"
#include "report/ponder_sheet.h"
#include "report/summary_page.h"
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

report::Series column_series(const report::CsvColumns& log, const std::string& column,
                             const std::string& name, double scale = 1) {
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

void label(report::Plot& plot, const char* title, const char* quantity) {
  plot.title = title;
  plot.x_label = "epoch";
  plot.y_label = quantity;
}

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, accuracy, flops, units;
  label(loss, "Loss", "loss");
  loss.series = {column_series(log, "train_loss", "training loss"),
                 column_series(log, "train_entropy", "cross-entropy")};
  label(accuracy, "Accuracy", "accuracy (%)");
  accuracy.series = {column_series(log, "train_accuracy", "training", 100),
                     column_series(log, "val_accuracy", "validation", 100)};
  label(flops, "FLOPs", "GFLOP per image");
  flops.series = {column_series(log, "flops", "validation", 1e-9)};
  label(units, "Units per block", "mean units");
  for (int block = 0; block < spec.blocks(); ++block) {
    units.series.push_back(
        column_series(log, fmt::format("units_{}", block + 1), fmt::format("block {}", block + 1)));
  }
  return {loss, accuracy, flops, units};
}

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RunFolder::RunFolder(fs::path path, const TrainSettings& settings)
    : path_(std::move(path)), settings_(settings) {
  make_directories(path_);
  lock_ = std::make_unique<DirectoryLock>(path_);
  for (const fs::path& folder : {path_, path_ / "samples"}) remove_left_temporaries(folder);
  if (fs::exists(checkpoint_path())) {
    try {
      checkpoint_ = std::make_unique<Checkpoint>(checkpoint_path());
    } catch (const Error& error) {
      fail("{}; remove it to start the run anew", error.what());
    }
  }
  compare_settings();
  check_writable(path_ / "settings.json");
}

/// Only what would be overwritten can be in the way: a start that failed, or was killed before
/// anything was saved, holds no run.
void RunFolder::compare_settings() const {
  if (!checkpoint_ && !fs::exists(path_ / "last.safetensors")) return;
  auto compare = [&](const TrainSettings& before) {
    const auto changed = differences(before, settings_);
    if (changed.empty()) return;
    fail("{}: holds a run with other settings ({}); give the same, or another folder",
         path_.string(), fmt::join(changed, "; "));
  };
  if (checkpoint_) {
    compare(settings_from_json(checkpoint_->settings_json(), checkpoint_path().string()));
  }
  const fs::path file = path_ / "settings.json";
  if (!fs::exists(file)) return;  // begin() writes it again
  std::optional<TrainSettings> stored;
  try {
    stored = settings_from_json(text_of(file), file.string());
  } catch (const Error& error) {
    fail("{}; {}", error.what(),
         checkpoint_ ? "remove this file, the checkpoint holds the settings too"
                     : "mend it, or use another folder");
  }
  compare(*stored);
}

void RunFolder::begin(const ModelSpec& spec, const Progression& progression) {
  spec_ = spec;
  write_file_atomically(path_ / "settings.json", to_json(settings_) + "\n");
  log_ = std::make_unique<report::CsvLog>(path_ / "log.csv", log_columns(spec),
                                          double(progression.epoch));
  make_directories(path_ / "events");
  events_ = std::make_unique<report::EventWriter>(path_ / "events", progression.step + 1);
  checkpoint_.reset();  // its memory, and its place on the disk when the next one replaces it
}

void RunFolder::write_model(const std::string& name, Network network) {
  sact::write_model(path_ / (name + ".safetensors"), network->spec(), network_weights(network));
}

void RunFolder::write_samples(Network network, const data::Dataset& dataset, int count, Size size,
                              torch::Device device, int64_t epoch) {
  if (count == 0 || !network->spec().adaptive()) return;
  torch::NoGradGuard no_grad;
  const bool was_training = network->is_training();
  network->eval();
  const ModelSpec& spec = network->spec();
  report::PonderSheet samples;
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
  make_directories(path_ / "samples");
  last_samples_ = fmt::format("samples/epoch-{:04}.png", epoch);
  const io::Image sheet = samples.draw(4);
  io::write_image(path_ / last_samples_, sheet);
  events_->add_image("ponder maps", sheet, epoch);
}

void RunFolder::record(const EpochRecord& record, int64_t step) {
  log_->append(log_row(record, spec_.blocks()));
  events_->add_scalar("train/loss", record.loss, step);
  events_->add_scalar("train/cross_entropy", record.entropy, step);
  events_->add_scalar("train/accuracy", record.accuracy, step);
  events_->add_scalar("train/rate", record.rate, step);
  events_->add_scalar("train/dead_units", total(record.dead_units), step);
  std::string line =
      fmt::format("epoch {}/{}: loss {:.4f}, training accuracy {:.2f} %", record.epoch,
                  settings_.epochs, record.loss, 100 * record.accuracy);
  if (record.evaluation) {
    const EvalOutcome& evaluation = *record.evaluation;
    events_->add_scalar("val/accuracy", evaluation.accuracy, step);
    events_->add_scalar("val/recall5", evaluation.recall5, step);
    events_->add_scalar("val/gflop", evaluation.flops.mean * 1e-9, step);
    std::vector<std::string> units;
    for (size_t block = 0; block < evaluation.units.size(); ++block) {
      events_->add_scalar(fmt::format("val/units_{}", block + 1), evaluation.units[block].mean,
                          step);
      units.push_back(fmt::format("{:.2f}", evaluation.units[block].mean));
    }
    line += fmt::format(", validation {:.2f} %, {}", 100 * evaluation.accuracy,
                        format_flops(evaluation.flops.mean));
    if (spec_.adaptive()) line += fmt::format(", units {}", fmt::join(units, " "));
  }
  log_info("{}, {:.0f} images/s", line, record.images_per_second);
  report_dead_units(record);
  events_->flush();
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
  const report::CsvColumns log = report::read_csv(path_ / "log.csv");
  const auto plots = run_plots(log, spec_);
  write_file_atomically(path_ / "curves.svg", report::to_svg(plots, 2));
  report::SummaryPage page;
  page.title = path_.filename().string();
  page.subtitle = fmt::format("{} network with units {} on {}", name_of(spec_.halting),
                              fmt::join(spec_.units, ","), settings_.data);
  auto last_of = [&](const char* column) {
    double found = kNone;
    for (double value : *log.find(column)) found = std::isfinite(value) ? value : found;
    return found;
  };
  page.facts = {{"epochs", fmt::format("{:.0f} of {}", last_of("epoch"), settings_.epochs)},
                {"validation accuracy", fmt::format("{:.2f} %", 100 * last_of("val_accuracy"))},
                {"FLOPs per image", format_flops(last_of("flops"))},
                {"dead units", total(record.dead_units) == 0
                                   ? "none"
                                   : fmt::format("{} ({})", total(record.dead_units),
                                                 dead_units_text(record.dead_units, spec_))}};
  const io::Json settings = io::Json::parse(to_json(settings_));
  for (const auto& [key, value] : settings.items()) {
    page.settings.push_back({key, io::dump_json(value)});
  }
  page.plots = plots;
  if (!last_samples_.empty()) {
    page.pictures = {report::linked_picture(last_samples_, "ponder cost over validation images")};
  }
  write_file_atomically(path_ / "summary.html", report::to_html(page));
}

}  // namespace sact::train
