#include "train/run_directory.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "io/json.h"

namespace sact::train {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, RunSettings settings)
    : path_(std::move(path)), settings_(std::move(settings)) {
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
void RunDirectory::compare_settings() const {
  if (!checkpoint_ && !fs::exists(path_ / "last.safetensors")) return;
  auto check = [&](const std::vector<std::string>& changed) {
    if (changed.empty()) return;
    fail("{}: holds a run with other settings ({}); give the same, or another folder",
         path_.string(), fmt::join(changed, "; "));
  };
  if (checkpoint_) {
    check(settings_.changes_since(checkpoint_->settings_json(), checkpoint_path().string()));
  }
  const fs::path file = path_ / "settings.json";
  if (!fs::exists(file)) return;  // begin() writes it again
  std::vector<std::string> changed;
  try {
    changed = settings_.changes_since(text_of(file), file.string());
  } catch (const Error& error) {
    fail("{}; {}", error.what(),
         checkpoint_ ? "remove this file, the checkpoint holds the settings too"
                     : "mend it, or use another folder");
  }
  check(changed);
}

void RunDirectory::begin(const std::vector<std::string>& log_columns,
                         const Progression& progression) {
  write_file_atomically(path_ / "settings.json", settings_.json + "\n");
  log_ =
      std::make_unique<report::CsvLog>(path_ / "log.csv", log_columns, double(progression.epoch));
  make_directories(path_ / "events");
  events_ = std::make_unique<report::EventWriter>(path_ / "events", progression.step + 1);
  checkpoint_.reset();  // its memory, and its place on the disk when the next one replaces it
}

void RunDirectory::write_model(const std::string& name, const ModelSpec& spec,
                               const std::vector<Weight>& weights) {
  sact::write_model(path_ / (name + ".safetensors"), spec, weights);
}

void RunDirectory::write_samples(const io::Image& sheet, const std::string& tag, int64_t epoch) {
  make_directories(path_ / "samples");
  last_samples_ = fmt::format("samples/epoch-{:04}.png", epoch);
  io::write_image(path_ / last_samples_, sheet);
  events_->add_image(tag, sheet, epoch);
}

void RunDirectory::write_summary(report::SummaryPage page, const std::string& samples_caption) {
  write_file_atomically(path_ / "curves.svg", report::to_svg(page.plots, 2));
  page.title = path_.filename().string();
  const io::Json settings = io::Json::parse(settings_.json);
  for (const auto& [key, value] : settings.items()) {
    page.settings.push_back({key, io::dump_json(value)});
  }
  if (!last_samples_.empty()) {
    page.pictures = {report::linked_picture(last_samples_, samples_caption)};
  }
  write_file_atomically(path_ / "summary.html", report::to_html(page));
}

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

double last_of(const report::CsvColumns& log, const std::string& column) {
  double found = std::numeric_limits<double>::quiet_NaN();
  for (double value : *log.find(column)) found = std::isfinite(value) ? value : found;
  return found;
}

}  // namespace sact::train
