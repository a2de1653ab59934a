#include "train/loop/run_directory.h"

#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "io/json.h"
#include "report/plot.h"
#include "train/loop/run_log.h"

namespace sact::train {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr size_t kEpochsShown = 3;  // samples in the summary

std::string samples_file(int64_t epoch) {
  return fmt::format("samples/epoch-{:04}.png", epoch);
}

constexpr const char* kCheckpoint = "checkpoint.safetensors";
constexpr const char* kDamaged = "checkpoint-damaged.safetensors";
constexpr const char* kSettings = "settings.json";

bool is_there(const fs::path& path) {
  std::error_code ignored;  // what is wrong with a folder shows when it is made
  return fs::exists(path, ignored);
}

/// The checkpoint, or the one before it where it is damaged; null when there is none. `problem` is
/// then what is wrong with the later one. One that cannot be read now may be whole: an error.
std::unique_ptr<Checkpoint> open_checkpoint(const fs::path& run, std::string* problem = nullptr) {
  std::vector<std::string> problems;
  for (const fs::path& path : {run / kCheckpoint, previous_checkpoint(run / kCheckpoint)}) {
    if (!is_there(path)) continue;
    try {
      auto checkpoint = std::make_unique<Checkpoint>(path);
      if (problem && !problems.empty()) *problem = problems.front();
      if (problem && path.filename() != kCheckpoint && problems.empty()) {
        *problem = (run / kCheckpoint).string() + ": is not there";
      }
      return checkpoint;
    } catch (const UnreadableFile&) {
      throw;
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  if (problems.empty()) return nullptr;
  fail("{}; remove {} to start the run anew", fmt::join(problems, "; "),
       problems.size() == 1 ? "it" : "both");
}

/// Whether anything would be overwritten: a start that failed, or was killed before anything was
/// saved, holds no run.
bool holds_run(const fs::path& run, const Checkpoint* checkpoint) {
  return checkpoint || is_there(run / "last.safetensors");
}

/// Calls `read` with settings.json; what is wrong with it comes with a hint.
void read_settings_file(
    const fs::path& run, const Checkpoint* checkpoint,
    const std::function<void(const std::string& json, const std::string& name)>& read) {
  const fs::path file = run / kSettings;
  try {
    read(text_of(file), file.string());
  } catch (const Error& error) {
    fail("{}; {}", error.what(),
         checkpoint ? "remove this file, the checkpoint holds the settings too"
                    : "mend it, or use another folder");
  }
}

void expect_made_by(const std::string& command, const fs::path& run, const Checkpoint& checkpoint) {
  const std::string made_by = checkpoint.command();
  if (made_by.empty() || made_by == command) return;
  fail("{}: holds a run of '{}'; go on with that command, or use another folder", run.string(),
       printable(made_by));
}

}  // namespace

void read_stored_settings(
    const fs::path& run, const std::string& command,
    const std::function<void(const std::string& json, const std::string& name)>& read) {
  const auto checkpoint = open_checkpoint(run);
  if (!holds_run(run, checkpoint.get())) return;
  if (checkpoint) expect_made_by(command, run, *checkpoint);
  if (fs::exists(run / kSettings)) {
    read_settings_file(run, checkpoint.get(), read);
  } else if (checkpoint) {
    read(checkpoint->settings_json(), (run / kCheckpoint).string());
  }
}

MadeDirectories::MadeDirectories(const fs::path& path) {
  for (fs::path folder = path; !folder.empty() && !is_there(folder);
       folder = folder.parent_path()) {
    made_.push_back(folder);
  }
  make_directories(path);
}

MadeDirectories::~MadeDirectories() {
  std::error_code ignored;  // one that is not empty stays
  for (const fs::path& folder : made_) fs::remove(folder, ignored);
}

RunDirectory::RunDirectory(fs::path path, const RunSettings& settings)
    : path_(std::move(path)), made_(path_), settings_(settings) {
  lock_ = std::make_unique<DirectoryLock>(path_);
  for (const fs::path& folder : {path_, path_ / "samples"}) remove_left_temporaries(folder);
  std::string problem;
  checkpoint_ = open_checkpoint(path_, &problem);
  went_back_ = !problem.empty();
  if (went_back_) {
    const Progression& from = checkpoint_->progression();
    log_warning("{}; going on from {}, which was saved in epoch {} after step {}", problem,
                checkpoint_->name(), from.epoch + 1, from.step);
  } else if (checkpoint_ && !checkpoint_->summed()) {
    log_warning("{}: an early version wrote it without a checksum, so damage to it goes unseen",
                checkpoint_->name());
  }
  compare_settings();
  check_writable(path_ / kSettings);
}

void RunDirectory::compare_settings() const {
  if (!holds_run(path_, checkpoint_.get())) return;
  auto check = [&](const std::vector<std::string>& changed) {
    if (changed.empty()) return;
    fail(
        "{}: holds a run with other settings ({}); give the same (or more epochs), or another "
        "folder",
        path_.string(), fmt::join(changed, "; "));
  };
  if (checkpoint_) {
    check(settings_.changes_since(checkpoint_->settings_json(), checkpoint_path().string()));
  }
  if (!fs::exists(path_ / kSettings)) return;  // begin() writes it again
  std::vector<std::string> changed;
  read_settings_file(path_, checkpoint_.get(),
                     [&](const std::string& json, const std::string& name) {
                       changed = settings_.changes_since(json, name);
                     });
  check(changed);
}

void RunDirectory::begin(const std::vector<std::string>& log_columns,
                         const Progression& progression) {
  write_file_atomically(path_ / kSettings, settings_.json() + "\n");
  made_.keep();
  log_ =
      std::make_unique<report::CsvLog>(path_ / "log.csv", log_columns, double(progression.epoch));
  make_directories(path_ / "events");
  events_ = std::make_unique<report::EventWriter>(path_ / "events", progression.step + 1);
  // The next checkpoint keeps the one before it: that must be the one that was good. The other is
  // put aside, for who knows more about it.
  if (went_back_) {
    if (is_there(checkpoint_path())) fs::rename(checkpoint_path(), path_ / kDamaged);
    fs::rename(previous_checkpoint(checkpoint_path()), checkpoint_path());
  }
  checkpoint_.reset();  // its memory, and its place on the disk when the next one replaces it
}

void RunDirectory::write_model(const std::string& name, const ModelSpec& spec,
                               const std::vector<Weight>& weights) {
  sact::write_model(path_ / (name + ".safetensors"), spec, weights);
}

void RunDirectory::write_samples(const io::RgbImage& sheet, const std::string& tag, int64_t epoch) {
  make_directories(path_ / "samples");
  io::write_image(path_ / samples_file(epoch), sheet);
  events_->add_image(tag, sheet, epoch);
}

/// Of up to three epochs from the first to the last.
std::vector<report::PagePicture> RunDirectory::samples(int64_t last_epoch,
                                                       const std::string& caption) const {
  std::vector<int64_t> epochs;
  for (int64_t epoch = 1; epoch <= last_epoch; ++epoch) {
    if (fs::exists(path_ / samples_file(epoch))) epochs.push_back(epoch);
  }
  std::vector<report::PagePicture> pictures;
  const size_t count = std::min(epochs.size(), kEpochsShown);
  for (size_t i = 0; i < count; ++i) {
    const int64_t epoch = epochs[count == 1 ? 0 : i * (epochs.size() - 1) / (count - 1)];
    pictures.push_back(report::embedded_picture(read_file(path_ / samples_file(epoch), 64 << 20),
                                                fmt::format("Epoch {}: {}", epoch, caption)));
  }
  return pictures;
}

void RunDirectory::write_summary(report::SummaryPage page, const std::string& samples_caption) {
  write_file_atomically(path_ / "curves.svg", report::to_svg(page.plots, 2));
  page.title = (path_.has_filename() ? path_ : path_.parent_path()).filename().string();
  const io::Json settings = io::Json::parse(settings_.json());
  for (const auto& [key, value] : settings.items()) {
    page.settings.push_back({key, io::dump_json(value)});
  }
  const double last_epoch = last_of(log(), "epoch");
  if (std::isfinite(last_epoch)) page.pictures = samples(int64_t(last_epoch), samples_caption);
  write_file_atomically(path_ / "summary.html", report::to_html(page));
}

}  // namespace sact::train
