// How far a training run is: the time left of all of it, and lines for logs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sact::train {

struct RunExtent {
  int64_t epochs = 0, steps_per_epoch = 0, step_images = 0;
};

class RunProgress {
 public:
  /// Seconds from any point in time; tests set their own.
  using Clock = std::function<double()>;
  static double steady_clock();

  /// A run of which `steps_done` are done when the clock starts.
  RunProgress(const RunExtent& extent, int64_t steps_done, Clock clock = steady_clock);

  /// Counts a step as done. Gives a line when one is due: after a tenth of an epoch, but not within
  /// 30 seconds of the last line, and not later than 10 minutes after it.
  std::optional<std::string> advance();
  /// To be called when the log has got a line by other means, such as that of a whole epoch.
  void line_told();
  /// The loss that the next line tells.
  void set_loss(double loss) { loss_ = loss; }

  /// "epoch 3/40 (run: 2 h 10 min left)"; without the time before the first step.
  std::string epoch_label() const;
  /// ", 2 h 10 min left" of the whole run; nothing where it is not known, or over.
  std::string time_left() const;

 private:
  /// Nothing before the first step. Evaluations and checkpoints so far count.
  std::optional<double> seconds_left() const;
  int64_t epoch() const { return done_ / extent_.steps_per_epoch; }

  RunExtent extent_;
  Clock clock_;
  int64_t first_, done_, told_;  // steps: at the start, now, at the last line
  double start_, told_at_;
  std::optional<double> loss_;
};

}  // namespace sact::train
