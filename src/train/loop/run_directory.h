// The folder of a training run, whatever is trained: settings, log, curves, pictures, models,
// checkpoint, summary.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "io/image.h"
#include "model/model_file.h"
#include "report/csv.h"
#include "report/event_file.h"
#include "report/summary_page.h"
#include "train/loop/checkpoint_file.h"
#include "train/loop/run_settings.h"

namespace sact::train {

/// Hands the settings of the run that a folder holds to `read`, as JSON with the name of the file;
/// does nothing when it holds none. sact::Error when it is a run of another command.
void read_stored_settings(
    const std::filesystem::path& run, const std::string& command,
    const std::function<void(const std::string& json, const std::string& name)>& read);

/// Directories that were made for a run, and that go again while they are empty unless the run has
/// begun: a start that fails leaves nothing behind.
class MadeDirectories {
 public:
  explicit MadeDirectories(const std::filesystem::path& path);
  ~MadeDirectories();
  MadeDirectories(const MadeDirectories&) = delete;
  MadeDirectories& operator=(const MadeDirectories&) = delete;

  void keep() { made_.clear(); }

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

class RunDirectory {
 public:
  /// Makes the folder, or finds one that is there. When that holds a run its settings must be the
  /// same, otherwise sact::Error lists the differences. The folder is locked while this object
  /// lives, and what a killed run left half written is removed. Without begin(), a folder that was
  /// made here goes again.
  RunDirectory(std::filesystem::path path, const RunSettings& settings);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint_path() const { return path_ / "checkpoint.safetensors"; }
  /// Where the run was interrupted; null when it begins, and after begin().
  const Checkpoint* checkpoint() const { return checkpoint_.get(); }

  /// To be called when nothing is known to stand in the way of the run, so that a failed start
  /// leaves no folder that looks like one: writes settings.json, opens log.csv and the event files
  /// without what lies after the point of resumption, and lets go of the checkpoint.
  void begin(const std::vector<std::string>& log_columns, const Progression& progression);

  /// A line of the log.
  void append(const std::vector<double>& row) { log_->append(row); }
  report::CsvColumns log() const { return report::read_csv(path_ / "log.csv"); }
  bool has_log() const { return std::filesystem::exists(path_ / "log.csv"); }
  report::EventWriter& events() { return *events_; }

  /// Writes NAME.safetensors.
  void write_model(const std::string& name, const ModelSpec& spec,
                   const std::vector<Weight>& weights);
  /// Writes samples/epoch-N.png, also into the event file under `tag`.
  void write_samples(const io::RgbImage& sheet, const std::string& tag, int64_t epoch);
  /// Writes curves.svg and summary.html; title, settings and samples of some epochs are added to
  /// the page.
  void write_summary(report::SummaryPage page, const std::string& samples_caption);

 private:
  void compare_settings() const;
  std::vector<report::PagePicture> samples(int64_t last_epoch, const std::string& caption) const;

  std::filesystem::path path_;
  MadeDirectories made_;
  std::unique_ptr<DirectoryLock> lock_;
  const RunSettings& settings_;
  std::unique_ptr<Checkpoint> checkpoint_;
  bool went_back_ = false;  // to the checkpoint before the last, which is damaged
  std::unique_ptr<report::CsvLog> log_;
  std::unique_ptr<report::EventWriter> events_;
};

}  // namespace sact::train
