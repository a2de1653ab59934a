// A progress bar with rate, time so far and time left, on standard error, only when that is a
// terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace sact {

class Progress {
 public:
  /// `total` is the number of items; `unit` names them ("images").
  Progress(std::string label, int64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts items as done and redraws at most ten times a second. Call from one thread.
  void advance(int64_t items = 1);

  /// Changes what stands before the bar, from the next time it is drawn.
  void set_label(std::string label) { label_ = std::move(label); }

  /// Takes the bar off the terminal.
  void finish();

 private:
  std::string label_, unit_;
  int64_t total_, done_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// The text of a progress line of at most `columns` characters; separate so that it can be tested.
std::string progress_line(std::string_view label, std::string_view unit, int64_t done,
                          int64_t total, double seconds, int columns);

/// Writes `text` (whole lines) to standard error without tearing a visible progress bar.
void print_above_progress(std::string_view text);

/// Calls `write`, which puts whole lines on the terminal by other means, with a visible progress
/// bar taken off before and put back after.
void write_above_progress(const std::function<void()>& write);

}  // namespace sact
