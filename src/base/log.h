// Messages for people on standard error. Standard output belongs to results.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace sact {

enum class LogLevel { kQuiet, kWarning, kInfo, kVerbose };

/// Sets what is shown; the default is kInfo, or kVerbose when SACT_VERBOSE=1 is in the environment.
void set_log_level(LogLevel level);
LogLevel log_level();

/// Writes one whole line; safe from several threads, and takes a progress bar off the line first.
void log_line(LogLevel level, std::string_view text);

template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() >= LogLevel::kInfo) {
    log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
}

template <typename... Args>
void log_verbose(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() >= LogLevel::kVerbose) {
    log_line(LogLevel::kVerbose, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace sact
