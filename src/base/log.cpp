#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/progress.h"
#include "base/terminal.h"
#include "base/unicode.h"

namespace sact {
namespace {

LogLevel level_from_environment() {
  const char* verbose = std::getenv("SACT_VERBOSE");
  return verbose && *verbose && std::string_view(verbose) != "0" ? LogLevel::kVerbose
                                                                 : LogLevel::kInfo;
}

std::atomic<LogLevel>& current_level() {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}

}  // namespace

void set_log_level(LogLevel level) {
  current_level() = level;
}

LogLevel log_level() {
  return current_level();
}

void log_line(LogLevel level, std::string_view text) {
  if (level > log_level()) return;
  std::string line;
  if (level == LogLevel::kWarning) {
    line = styled("warning:", Style::kWarning, colour_wanted(STDERR_FILENO)) + " ";
  }
  line += single_line(text);  // of which a part may be the name of a file, or stand in one
  line += '\n';
  print_above_progress(line);
}

}  // namespace sact
