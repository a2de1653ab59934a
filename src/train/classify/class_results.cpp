#include "train/classify/class_results.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "report/csv.h"
#include "report/heat_map.h"
#include "train/loop/run_log.h"

namespace sact::train {
namespace {

constexpr const char* kConfusionFile = "confusion.csv";

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
        {class_name(spec, found.label), fmt::format("{}", found.images),
         percent_text(found.accuracy()), confused ? class_name(spec, found.taken_for) : "",
         confused ? percent_text(double(found.taken) / double(found.images)) : ""});
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

}  // namespace

void ClassResults::write(const std::filesystem::path& run, const data::Dataset& dataset,
                         const Answers& answers, int64_t epoch) {
  confusion_ = {};
  epoch_ = epoch;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const int answer = int(answers.classes[size_t(i)]) - 1;
    if (answer >= 0) confusion_.add(dataset.label(i), answer);
  }
  std::string text = report::csv_row({"epoch", "label", "answer", "images"});
  for (const evaluation::ConfusionCell& cell : confusion_.cells()) {
    text += fmt::format("{},{},{},{}\n", epoch, cell.label, cell.answer, cell.images);
  }
  write_file_atomically(run / kConfusionFile, text);
}

void ClassResults::read(const std::filesystem::path& run, int classes, int64_t last_epoch) {
  const std::filesystem::path file = run / kConfusionFile;
  if (!std::filesystem::exists(file)) return;
  const report::CsvColumns table = report::read_csv(file);
  auto in_range = [&](double label) { return label >= 0 && label < classes; };
  for (size_t row = 0; row < table.rows(); ++row) {
    const double epoch = value_in(table, "epoch", row), label = value_in(table, "label", row),
                 answer = value_in(table, "answer", row), images = value_in(table, "images", row);
    if (!(epoch <= double(last_epoch) && in_range(label) && in_range(answer) && images > 0)) {
      continue;
    }
    epoch_ = int64_t(epoch);
    confusion_.add(int(label), int(answer), int64_t(images));
  }
}

void ClassResults::add_to(report::SummaryPage& page, const ModelSpec& spec) const {
  if (confusion_.empty()) return;
  auto dated = [&](std::string title) { return title + fmt::format(" (epoch {})", epoch_); };
  report::PageTable classes = class_table(confusion_, spec),
                    pairs = confused_table(confusion_, spec);
  report::PageDrawing map = confusion_map(confusion_, spec);
  for (std::string* title : {&classes.title, &pairs.title, &map.title}) *title = dated(*title);
  page.tables.push_back(std::move(classes));
  if (!pairs.table.rows.empty()) page.tables.push_back(std::move(pairs));
  page.drawings.push_back(std::move(map));
}

}  // namespace sact::train
