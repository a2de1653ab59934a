#include "cli/image_report.h"

#include <unistd.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/print_block.h"

namespace sact::cli {

void add_jsonl_option(CLI::App& command, bool& jsonl) {
  command.add_flag("--jsonl", jsonl,
                   "Print a JSON object for each image as it is done, one a line; outputs of "
                   "several runs can be joined by 'cat'");
}

ImageReport::ImageReport(const ImageReportOptions& options, StreamedTable table)
    : options_(options), table_(std::move(table)) {
  if (options.json && options.jsonl) {
    throw CLI::ValidationError("--jsonl", "give --json or --jsonl, not both");
  }
  table_.fit(size_t(columns_of_terminal(STDOUT_FILENO)));
}

void ImageReport::print_line(const io::Json& image) {
  print_block(io::dump_json(with_schema(image)));
}

void ImageReport::add(const MakeJson& json, const MakeCells& cells) {
  if (options_.json) {
    images_.push_back(json());
  } else if (options_.jsonl) {
    print_line(json());
  } else {
    if (done_ == 0) print_block(table_.header());
    print(table_.row(cells()));
  }
  ++done_;
}

void ImageReport::add_failure(const std::string& path, const std::string& message) {
  print_error(message);
  const io::Json image = {{"path", path}, {"error", message}};
  if (options_.json) images_.push_back(image);
  if (options_.jsonl) print_line(image);
  ++failed_;
}

void ImageReport::finish(io::Json summary, const std::vector<std::string>& lines) {
  if (options_.json) {
    summary["images"] = std::move(images_);
    summary["failed"] = failed_;
    print_json(summary);
    return;
  }
  for (const std::string& line : lines) {
    if (options_.jsonl) {
      log_info("{}", line);
    } else {
      print(line);
    }
  }
}

std::string job_summary(const ImageReport& report, double seconds, bool interrupted) {
  std::string text =
      fmt::format("{} in {}", pluralize(report.done(), "image"), format_duration(seconds));
  if (report.done() > 1) text += fmt::format(" ({:.1f} images/s)", double(report.done()) / seconds);
  if (report.failed()) text += fmt::format(", {} failed", report.failed());
  if (interrupted) text += ", interrupted";
  return text;
}

int job_status(const ImageReport& report, bool interrupted) {
  if (interrupted) return interrupted_status();
  return report.failed() ? 1 : 0;
}

}  // namespace sact::cli
