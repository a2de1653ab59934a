#include "train/classify/run_folder.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "report/heat_map.h"
#include "report/ponder_sheet.h"
#include "train/torch/network_weights.h"
#include "train/torch/torch_runner.h"

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
  columns.insert(columns.end(), {"train_ponder_cost", "val_loss"});
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
  row.push_back(record.ponder_cost);
  row.push_back(record.evaluation ? record.val_loss : kNone);
  return row;
}

std::vector<report::Plot> run_plots(const report::CsvColumns& log, const ModelSpec& spec) {
  report::Plot loss, accuracy, flops, units;
  label_over_epochs(loss, "Loss", "loss");
  loss.series = {column_series(log, "train_loss", "training loss"),
                 column_series(log, "train_entropy", "training cross-entropy"),
                 column_series(log, "val_loss", "validation cross-entropy")};
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
  if (!spec.adaptive()) return {loss, accuracy};  // its FLOPs and units stay as they are
  return {loss, accuracy,
          plot_over_flops(log, "val_accuracy", "Accuracy over FLOPs", "validation accuracy (%)"),
          flops, units};
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}", 100 * share) : "";
}

/// The best and the last epoch side by side.
report::PageTable best_and_last_table(const report::CsvColumns& log, const ModelSpec& spec) {
  report::PageTable table{"Best and last epoch", {}};
  table.table.header = {"",          "epoch",         "accuracy %", "recall@5 %",
                        "val. loss", "train. acc. %", "FLOPs",      "of dense %"};
  table.table.align.resize(table.table.header.size(), report::ColumnAlign::kRight);
  table.table.align[0] = report::ColumnAlign::kLeft;
  for (int block = 0; block < spec.blocks() && spec.adaptive(); ++block) {
    table.table.header.push_back(fmt::format("units {}", block + 1));
  }
  const auto rows = best_and_last(log, "val_accuracy");
  if (!rows) return table;
  const double dense = double(dense_flops(spec, {spec.input.size, spec.input.size}));
  for (const auto& [name, row] : {std::pair("best", rows->best), std::pair("last", rows->last)}) {
    auto value = [&, row = row](const std::string& column) { return value_in(log, column, row); };
    auto number = [](double number) {
      return std::isfinite(number) ? fmt::format("{:.3f}", number) : std::string();
    };
    std::vector<std::string> cells = {name,
                                      fmt::format("{:.0f}", value("epoch")),
                                      percent(value("val_accuracy")),
                                      percent(value("val_recall5")),
                                      number(value("val_loss")),
                                      percent(value("train_accuracy")),
                                      format_flops(value("flops")),
                                      fmt::format("{:.1f}", 100 * value("flops") / dense)};
    for (int block = 0; block < spec.blocks() && spec.adaptive(); ++block) {
      cells.push_back(number(value(fmt::format("units_{}", block + 1))));
    }
    table.table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string class_name(const ModelSpec& spec, int label) {
  return printable(spec.label(label));
}

report::PageTable class_table(const evaluation::Confusion& confusion, const ModelSpec& spec) {
  constexpr size_t kUnfolded = 30;
  const auto classes = confusion.by_class();
  report::PageTable table{"Accuracy by class, the weakest first", {}, classes.size() > kUnfolded};
  if (table.folded) table.title = fmt::format("Accuracy of all {} classes", classes.size());
  table.table.header = {"class", "images", "accuracy %", "most often taken for", "% of its images"};
  for (const evaluation::ClassAccuracy& found : classes) {
    const bool confused = found.taken_for >= 0;
    table.table.rows.push_back(
        {class_name(spec, found.label), fmt::format("{}", found.images), percent(found.accuracy()),
         confused ? class_name(spec, found.taken_for) : "",
         confused ? percent(double(found.taken) / double(found.images)) : ""});
  }
  return table;
}

report::PageTable confused_table(const evaluation::Confusion& confusion, const ModelSpec& spec) {
  report::PageTable table{"Most confused classes", {}};
  table.table.header = {"class", "taken for", "images"};
  for (const evaluation::ConfusionCell& cell : confusion.most_confused(15)) {
    table.table.rows.push_back({class_name(spec, cell.label), class_name(spec, cell.answer),
                                fmt::format("{}", cell.images)});
  }
  return table;
}

/// Classes by groups of neighbours where there are too many to be shown one by one.
report::PageDrawing confusion_map(const evaluation::Confusion& confusion, const ModelSpec& spec) {
  const int group = (spec.classes + report::kMaxHeatRows - 1) / report::kMaxHeatRows;
  const int rows = (spec.classes + group - 1) / group;
  report::HeatMap map{"class", "taken for", {}, {}};
  for (int row = 0; row < rows; ++row) {
    const int last = std::min((row + 1) * group, spec.classes) - 1;
    map.names.push_back(group == 1 ? class_name(spec, row)
                                   : fmt::format("{}–{}", row * group, last));
  }
  evaluation::Confusion joined;
  std::vector<int64_t> images(size_t(rows), 0);
  for (const evaluation::ConfusionCell& cell : confusion.cells()) {
    joined.add(cell.label / group, cell.answer / group, cell.images);
    images[size_t(cell.label / group)] += cell.images;
  }
  for (const evaluation::ConfusionCell& cell : joined.cells()) {
    const double share = double(cell.images) / double(images[size_t(cell.label)]);
    map.cells.push_back({cell.label, cell.answer, share, fmt::format("{}", cell.images),
                         fmt::format("{} taken for {}: {} of {} images ({:.1f} %)",
                                     map.names[size_t(cell.label)], map.names[size_t(cell.answer)],
                                     cell.images, images[size_t(cell.label)], 100 * share)});
  }
  std::string caption =
      "Darker: a larger share of the row's images. Right answers are on the diagonal.";
  if (group > 1) {
    caption += fmt::format(" Each row and column stands for {} neighbouring classes.", group);
  }
  return {"Confusion matrix", caption, report::to_svg(map)};
}

constexpr const char* kConfusionFile = "confusion.csv";

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
  read_answers(progression.epoch);
}

void RunFolder::write_answers(const data::Dataset& dataset, const Answers& answers, int64_t epoch) {
  confusion_ = {};
  confusion_epoch_ = epoch;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const int answer = int(answers.classes[size_t(i)]) - 1;
    if (answer >= 0) confusion_.add(dataset.label(i), answer);
  }
  std::string text = report::csv_row({"epoch", "label", "answer", "images"});
  for (const evaluation::ConfusionCell& cell : confusion_.cells()) {
    text += fmt::format("{},{},{},{}\n", epoch, cell.label, cell.answer, cell.images);
  }
  write_file_atomically(path() / kConfusionFile, text);
}

/// Of the evaluation before the point where the run goes on, if the file is of that.
void RunFolder::read_answers(int64_t last_epoch) {
  const fs::path file = path() / kConfusionFile;
  if (!fs::exists(file)) return;
  const report::CsvColumns table = report::read_csv(file);
  auto in_range = [&](double label) { return label >= 0 && label < spec_.classes; };
  for (size_t row = 0; row < table.rows(); ++row) {
    const double epoch = value_in(table, "epoch", row), label = value_in(table, "label", row),
                 answer = value_in(table, "answer", row), images = value_in(table, "images", row);
    if (!(epoch <= double(last_epoch) && in_range(label) && in_range(answer) && images > 0)) {
      continue;
    }
    confusion_epoch_ = int64_t(epoch);
    confusion_.add(int(label), int(answer), int64_t(images));
  }
}

StoredNumbers RunFolder::stored() const {
  if (!directory_.has_log()) return {kNone, kNone, kNone};
  const report::CsvColumns log = directory_.log();
  const auto rows = best_and_last(log, "val_accuracy");
  return {last_of(log, "val_accuracy"), rows ? value_in(log, "val_accuracy", rows->best) : kNone,
          last_of(log, "flops")};
}

void RunFolder::record_steps(const StepRecord& record) {
  report::EventWriter& events = directory_.events();
  events.add_scalar("step/loss", record.loss, record.step);
  events.add_scalar("step/cross_entropy", record.entropy, record.step);
  if (spec_.adaptive()) events.add_scalar("step/ponder_cost", record.ponder_cost, record.step);
  events.add_scalar("step/rate", record.rate, record.step);
  events.flush();
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
    const int truth = dataset.label(index), answer = top_classes(result.logits, 1)[0].index;
    samples.add(
        io::cut(image, crop), ponder_cost_map(result),
        fmt::format("{}: {}\nis {}, ponder cost {:.2f}", answer == truth ? "right" : "wrong",
                    class_name(spec, answer), class_name(spec, truth), ponder_cost(result)));
  }
  if (was_training) network->train();
  if (samples.size() == 0) return;
  directory_.write_samples(samples.draw(2), "ponder maps", epoch);
}

void RunFolder::record(const EpochRecord& record, int64_t step) {
  report::EventWriter& events = directory_.events();
  directory_.append(log_row(record, spec_.blocks()));
  events.add_scalar("train/loss", record.loss, step);
  events.add_scalar("train/cross_entropy", record.entropy, step);
  if (spec_.adaptive()) events.add_scalar("train/ponder_cost", record.ponder_cost, step);
  events.add_scalar("train/accuracy", record.accuracy, step);
  events.add_scalar("train/rate", record.rate, step);
  events.add_scalar("train/dead_units", total(record.dead_units), step);
  std::string line =
      fmt::format("epoch {}/{}: loss {:.4f}, training accuracy {:.2f} %", record.epoch,
                  settings_.epochs, record.loss, 100 * record.accuracy);
  if (record.evaluation) {
    const EvalOutcome& evaluation = *record.evaluation;
    events.add_scalar("val/loss", record.val_loss, step);
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
  log_info("{}, {:.0f} images/s{}", line, record.images_per_second, record.time_left);
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

void RunFolder::add_class_results(report::SummaryPage& page) const {
  if (confusion_.empty()) return;
  auto dated = [&](std::string title) {
    return title + fmt::format(" (epoch {})", confusion_epoch_);
  };
  report::PageTable classes = class_table(confusion_, spec_),
                    pairs = confused_table(confusion_, spec_);
  report::PageDrawing map = confusion_map(confusion_, spec_);
  for (std::string* title : {&classes.title, &pairs.title, &map.title}) *title = dated(*title);
  page.tables.push_back(std::move(classes));
  if (!pairs.table.rows.empty()) page.tables.push_back(std::move(pairs));
  page.drawings.push_back(std::move(map));
}

void RunFolder::write_plots(const EpochRecord& record) {
  const report::CsvColumns log = directory_.log();
  report::SummaryPage page;
  page.subtitle = fmt::format("{} network with units {} on {}", name_of(spec_.halting),
                              fmt::join(spec_.units, ","), settings_.data);
  const auto rows = best_and_last(log, "val_accuracy");
  page.facts = {{"epochs", fmt::format("{:.0f} of {}", last_of(log, "epoch"), settings_.epochs)}};
  if (rows) {
    const double dense = double(dense_flops(spec_, {spec_.input.size, spec_.input.size}));
    auto accuracy = [&](size_t row) {
      return fmt::format("{:.2f} %", 100 * value_in(log, "val_accuracy", row));
    };
    auto epoch_of = [&](const char* name, size_t row) {
      return fmt::format("{} validation accuracy, epoch {:.0f}", name, value_in(log, "epoch", row));
    };
    page.facts.push_back({epoch_of("best", rows->best), accuracy(rows->best)});
    page.facts.push_back({epoch_of("last", rows->last), accuracy(rows->last)});
    page.facts.push_back({"FLOPs per image", format_flops(last_of(log, "flops"))});
    page.facts.push_back(
        {"of the dense network", fmt::format("{:.1f} %", 100 * last_of(log, "flops") / dense)});
  }
  page.facts.push_back(
      {"dead units", total(record.dead_units) == 0
                         ? "none"
                         : fmt::format("{} ({})", total(record.dead_units),
                                       dead_units_text(record.dead_units, spec_))});
  page.plots = run_plots(log, spec_);
  if (rows) page.tables.push_back(best_and_last_table(log, spec_));
  add_class_results(page);
  directory_.write_summary(std::move(page),
                           "ponder cost over validation images, with what was said and what is so");
}

}  // namespace sact::train
