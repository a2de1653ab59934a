#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/unicode.h"

namespace sact {
namespace {

std::mutex terminal_mutex;
std::string visible_bar;  // guarded by terminal_mutex; empty: there is none

int terminal_columns() {
  const int columns = columns_of_terminal(STDERR_FILENO);
  return columns > 0 ? columns : 80;
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void erase_bar_locked() {
  if (visible_bar.empty()) return;
  write_stderr("\r\033[K");
  std::fflush(stderr);
}

void draw_bar_locked() {
  if (visible_bar.empty()) return;
  write_stderr("\r\033[K" + visible_bar);
  std::fflush(stderr);
}

/// 0:07, 12:34, 1:02:03: a width that does not jump from second to second.
std::string clock_text(double seconds) {
  const int64_t whole = int64_t(std::min(std::max(seconds, 0.0), 1e12));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// 0.042, 3.14, 31.4, 314, 31415: three digits or more, and no exponent.
std::string rate_text(double rate) {
  const int digits = rate < 1 ? 3 : rate < 10 ? 2 : rate < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", rate, digits);
}

}  // namespace

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(single_line(label)),
      unit_(std::move(unit)),
      total_(total),
      shown_(isatty(STDERR_FILENO) == 1 && log_level() >= LogLevel::kInfo),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {}

Progress::~Progress() {
  finish();
}

void Progress::advance(int64_t items) {
  done_ += items;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  const bool first = drawn_ == start_;
  if (!first && now - drawn_ < std::chrono::milliseconds(100) && done_ < total_) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = progress_line(label_, unit_, done_, total_, seconds, terminal_columns() - 1);
  std::lock_guard lock(terminal_mutex);
  visible_bar = std::move(line);
  draw_bar_locked();
}

void Progress::finish() {
  if (!shown_) return;
  std::lock_guard lock(terminal_mutex);
  erase_bar_locked();
  visible_bar.clear();
}

std::string progress_line(std::string_view label, std::string_view unit, int64_t done,
                          int64_t total, double seconds, int columns) {
  const double share = total > 0 ? std::clamp(double(done) / double(total), 0.0, 1.0) : 0.0;
  const double rate = seconds > 0 ? double(done) / seconds : 0.0;
  std::string tail = fmt::format(" {}/{} {}", done, total, unit);
  if (rate > 0) {
    tail += fmt::format("  {} {}/s  {}, {} left", rate_text(rate), unit, clock_text(seconds),
                        clock_text(double(std::max<int64_t>(total - done, 0)) / rate));
  }
  const int bar = std::clamp(columns - int(label.size() + tail.size()) - 4, 0, 40);
  std::string line(label);
  if (bar >= 5) {
    const int filled = int(share * bar + 0.5);
    line += fmt::format(" [{:#>{}}{:.>{}}]", "", filled, "", bar - filled);
  }
  line += tail;
  if (columns >= 0 && line.size() > size_t(columns)) line.resize(size_t(columns));
  return line;
}

void print_above_progress(std::string_view text) {
  write_above_progress([text] {
    write_stderr(text);
    std::fflush(stderr);
  });
}

void write_above_progress(const std::function<void()>& write) {
  std::lock_guard lock(terminal_mutex);
  erase_bar_locked();
  write();
  draw_bar_locked();
}

}  // namespace sact
