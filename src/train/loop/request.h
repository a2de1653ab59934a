// What a command asks of a training, and what it gets. Needs no LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sact::train {

struct TrainRequest {
  std::string config;                    // JSON file with settings, or empty
  std::vector<std::string> assignments;  // key=value, over those
  std::string run;                       // run folder
  std::string device = "cpu";
  int threads = 0;
  /// Asked at every step; when it says true, training stops and keeps what it has.
  std::function<bool()> interrupted = {};
};

struct TrainOutcome {
  bool first = true;             // whether this process is the one that speaks for all
  bool finished = false;         // false: interrupted; the same call goes on
  bool finished_before = false;  // nothing was left to do
  int64_t epochs = 0, steps = 0;
  double seconds = 0;  // of this call
  /// Of the whole run, in the first process: of the last evaluation, but for the best. NaN before
  /// the first, and where there was nothing to evaluate.
  double score = 0, best_score = 0, flops = 0;
  std::string data, split;  // what it was evaluated on
};

}  // namespace sact::train
