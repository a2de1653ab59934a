// The folder of a training run, whatever is trained: settings, log, curves, pictures, models,
// checkpoint, summary.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "io/image.h"
#include "model/model_file.h"
#include "report/csv.h"
#include "report/event_file.h"
#include "report/plot.h"
#include "report/summary_page.h"
#include "train/loop/checkpoint.h"

namespace sact::train {

/// What a run folder must know of settings, of either kind.
struct RunSettings {
  std::string json;
  /// What differs from settings that are stored as JSON; `name` is used in messages.
  std::function<std::vector<std::string>(const std::string& stored, const std::string& name)>
      changes_since;
};

/// Hands the settings of the run that a folder holds to `read`, as JSON with the name of the file;
/// does nothing when it holds none. sact::Error when it is a run of the other command.
void read_stored_settings(
    const std::filesystem::path& run, bool detector,
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
  RunDirectory(std::filesystem::path path, RunSettings settings);

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
  void write_samples(const io::Image& sheet, const std::string& tag, int64_t epoch);
  /// Writes curves.svg and summary.html; title, settings and samples of some epochs are added to
  /// the page.
  void write_summary(report::SummaryPage page, const std::string& samples_caption);

 private:
  void compare_settings() const;
  std::vector<report::PagePicture> samples(int64_t last_epoch, const std::string& caption) const;

  std::filesystem::path path_;
  MadeDirectories made_;
  std::unique_ptr<DirectoryLock> lock_;
  RunSettings settings_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<report::CsvLog> log_;
  std::unique_ptr<report::EventWriter> events_;
};

/// A column of a log over its epochs, without the lines that have no number there.
report::Series column_series(const report::CsvColumns& log, const std::string& column,
                             const std::string& name, double scale = 1);
void label_over_epochs(report::Plot& plot, const char* title, const char* quantity);
/// The last number of a column; NaN when there is none.
double last_of(const report::CsvColumns& log, const std::string& column);

/// The epochs of a log that matter: the first with the highest number in `column`, and the last
/// with any.
struct BestAndLast {
  size_t best = 0, last = 0;  // rows
};
/// Nothing when there is no such number.
std::optional<BestAndLast> best_and_last(const report::CsvColumns& log, const std::string& column);
/// The number in a row; NaN for a column that is not there.
double value_in(const report::CsvColumns& log, const std::string& column, size_t row);

/// A quantity over the FLOPs of its epochs, the best and the last of them marked.
report::Plot plot_over_flops(const report::CsvColumns& log, const std::string& column,
                             const char* title, const char* quantity);

}  // namespace sact::train
