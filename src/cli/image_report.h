// What a command tells of many images while it runs them: rows of a table, one JSON object at the
// end, or a JSON line for each image as it is done.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/streamed_table.h"
#include "io/json.h"

namespace sact::cli {

struct ImageReportOptions {
  bool json = false, jsonl = false;
};

/// Adds --jsonl to the command.
void add_jsonl_option(CLI::App& command, bool& jsonl);

class ImageReport {
 public:
  ImageReport(const ImageReportOptions& options, StreamedTable table);

  using MakeJson = std::function<io::Json()>;
  using MakeCells = std::function<std::vector<std::string>()>;
  /// Only what is wanted is made.
  void add(const MakeJson& json, const MakeCells& cells);
  /// An image that gave no result, and why.
  void add_failure(const std::string& path, const std::string& message);

  int64_t done() const { return done_; }
  int64_t failed() const { return failed_; }

  /// Ends the report: `summary` as the one JSON object, with "images" and "failed" in it, or else
  /// the lines for people; beside JSON lines they go to standard error.
  void finish(io::Json summary, const std::vector<std::string>& lines);

 private:
  void print_line(const io::Json& image);

  ImageReportOptions options_;
  StreamedTable table_;
  io::Json images_ = io::Json::array();
  int64_t done_ = 0, failed_ = 0;
};

/// "500 images in 3.2 s (156 images/s), 2 failed, interrupted".
std::string job_summary(const ImageReport& report, double seconds, bool interrupted);

/// The exit status of a command that ran images.
int job_status(const ImageReport& report, bool interrupted);

}  // namespace sact::cli
