#include "train/loop/run_progress.h"

#include <chrono>

#include "base/text.h"

namespace sact::train {
namespace {

constexpr double kShortestSilence = 30, kLongestSilence = 600;  // seconds between lines
constexpr int64_t kLinesOfAnEpoch = 10;

}  // namespace

double RunProgress::steady_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RunProgress::RunProgress(const RunExtent& extent, int64_t steps_done, Clock clock)
    : extent_(extent),
      clock_(std::move(clock)),
      first_(steps_done),
      done_(steps_done),
      told_(steps_done),
      start_(clock_()),
      told_at_(start_) {}

std::optional<double> RunProgress::seconds_left() const {
  if (done_ == first_) return std::nullopt;
  const double a_step = (clock_() - start_) / double(done_ - first_);
  return a_step * double(extent_.epochs * extent_.steps_per_epoch - done_);
}

std::optional<std::string> RunProgress::advance() {
  const int64_t epoch = this->epoch();
  ++done_;
  const double now = clock_(), silence = now - told_at_;
  const bool far = (done_ - told_) * kLinesOfAnEpoch >= extent_.steps_per_epoch;
  if (silence < kShortestSilence || !(far || silence >= kLongestSilence)) return std::nullopt;
  const int64_t step = done_ - epoch * extent_.steps_per_epoch;
  std::string line = fmt::format("epoch {}/{}: {} of {} steps", epoch + 1, extent_.epochs, step,
                                 extent_.steps_per_epoch);
  if (loss_) line += fmt::format(", loss {:.4f}", *loss_);
  line +=
      fmt::format(", {:.1f} images/s", double((done_ - told_) * extent_.step_images) / silence) +
      time_left();
  line_told();
  return line;
}

void RunProgress::line_told() {
  told_ = done_;
  told_at_ = clock_();
}

std::string RunProgress::epoch_label() const {
  const std::string label = fmt::format("epoch {}/{}", epoch() + 1, extent_.epochs);
  const auto seconds = seconds_left();
  return seconds ? label + fmt::format(" (run: {} left)", format_duration(*seconds)) : label;
}

std::string RunProgress::time_left() const {
  const auto seconds = seconds_left();
  return seconds && *seconds > 0 ? fmt::format(", {} left", format_duration(*seconds)) : "";
}

}  // namespace sact::train
