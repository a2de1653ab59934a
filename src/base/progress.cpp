#include "base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/log.h"
#include "base/text.h"

namespace sact {
namespace {

std::mutex terminal_mutex;
bool bar_visible = false;  // guarded by terminal_mutex

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void erase_bar_locked() {
  if (bar_visible) write_stderr("\r\033[K");
  bar_visible = false;
}

}  // namespace

Progress::Progress(std::string label, int64_t total, std::string unit)
    : label_(std::move(label)),
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
  if (now - drawn_ < std::chrono::milliseconds(100) && done_ < total_) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string line =
      progress_line(label_, unit_, done_, total_, seconds, terminal_columns() - 1);
  std::lock_guard lock(terminal_mutex);
  write_stderr("\r\033[K" + line);
  std::fflush(stderr);
  bar_visible = true;
}

void Progress::finish() {
  if (!shown_) return;
  std::lock_guard lock(terminal_mutex);
  erase_bar_locked();
  std::fflush(stderr);
}

std::string progress_line(std::string_view label, std::string_view unit, int64_t done,
                          int64_t total, double seconds, int columns) {
  const double share = total > 0 ? std::clamp(double(done) / double(total), 0.0, 1.0) : 0.0;
  const double rate = seconds > 0 ? double(done) / seconds : 0.0;
  std::string tail = fmt::format(" {}/{} {}", done, total, unit);
  if (rate > 0) {
    tail += fmt::format("  {:.3g} {}/s  {} left", rate, unit,
                        format_duration(double(std::max<int64_t>(total - done, 0)) / rate));
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
  std::lock_guard lock(terminal_mutex);
  erase_bar_locked();
  write_stderr(text);
  std::fflush(stderr);
}

}  // namespace sact
