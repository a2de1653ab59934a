// What can be asked of a session or a detector, once or with every call.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sact/error.h"

namespace sact {

/// What a network sees of a picture.
struct InputOptions {
  int size = 0;        // side of the square network input; 0: the model's own
  bool whole = false;  // all of the picture with its aspect ratio, `size` being the shorter side,
                       // instead of the central crop
};

/// How much work an adaptive network does; docs/dial.md is about it.
struct Work {
  double halting_shift =
      0;                   // added to halting scores before their sigmoid: above 0 it stops earlier
  double budget = 0;       // mean share of the dense network's FLOPs instead of a shift, by the
                           // curve that `sact calibrate` stored in the model; 0: none
  double hard_budget = 0;  // the same as a limit to every image; 0: none
};

/// Thrown when RunOptions::cancelled said so. The session can be used again.
class __attribute__((visibility("default"))) Cancelled : public Error {
 public:
  using Error::Error;
};

/// What goes with one call.
struct RunOptions {
  RunOptions() = default;
  RunOptions(const InputOptions& seen) : input(seen) {}  // NOLINT: an InputOptions will do

  InputOptions input = {};   // detectors have a size of their own
  std::optional<Work> work;  // none: that of the session
  /// Asked after every residual unit, by the thread that called; true ends the call with a
  /// Cancelled. What it throws comes out of the call.
  std::function<bool()> cancelled;
  /// Told how many of the images are done whenever some are.
  std::function<void(int done, int total)> progress;
};

struct SessionOptions {
  int threads = 0;  // that work on one run; 0: all that this process may use
  int batch = 8;    // images that pass through the network together at most; memory grows with it
  Work work = {};   // of calls that do not say otherwise
};

/// How a saliency map is made of a ponder cost map; the paper's settings by default.
struct SaliencyOptions {
  int size = 0;      // the shorter side of what the network sees; 0: 180, and 360 for a detector
  double blur = 10;  // standard deviation of the Gaussian, in positions of the map
  double center_weight = 0.005;  // of the centred Gaussian that is added
  double center_sigma = 0.25;    // its standard deviation, as a share of each side
};

}  // namespace sact
