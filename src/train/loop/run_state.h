// Where a training run stands, kept the same in all processes: resuming, exchanging gradients,
// checkpoints.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "train/loop/checkpoint.h"
#include "train/loop/sgd.h"
#include "train/torch/libtorch.h"
#include "train/torch/process_group.h"

namespace sact::train {

struct RunStateOptions {
  std::filesystem::path run;  // for messages
  std::string settings_json;
  ModelSpec spec;
  double checkpoint_minutes = 10;
  std::string command = {};  // that makes such runs
  /// Beside the gradients, what differs between processes and is averaged.
  std::vector<torch::Tensor> averaged = {};
  std::function<bool()> interrupted = {};
};

class RunState {
 public:
  RunState(ProcessGroup& group, torch::nn::Module& network, Sgd& sgd, RunStateOptions options);

  /// The first process reads the checkpoint, if there is one (it passes null otherwise, as do the
  /// others), and all take over what it has.
  void start(const Checkpoint* checkpoint);

  /// Averages the gradients, and what else was asked for, so that at any step all processes hold
  /// the same network. Whether to stop or to save travels along.
  void exchange();
  /// What all have agreed to do after the step under way.
  bool stop() const { return stop_; }
  bool save() const { return save_; }

  bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  /// Writes a checkpoint there; only notes the time where the path is empty.
  void checkpoint(const std::filesystem::path& path);
  /// The time of the next checkpoint is counted from now on.
  void restart_clock() { saved_ = Clock::now(); }

  /// sact::Error that says where the last checkpoint is.
  [[noreturn]] void fail_not_finite() const;

  Progression progression;

 private:
  using Clock = std::chrono::steady_clock;

  ProcessGroup& group_;
  torch::nn::Module& network_;
  Sgd& sgd_;
  RunStateOptions options_;
  Clock::time_point saved_ = Clock::now();
  bool stop_ = false, save_ = false;
};

/// The spec of a run, the same in all processes. The first one has a checkpoint, which holds it (so
/// that a run that goes on no longer needs the model that it started from), or makes it anew; the
/// others pass null and wait. sact::Error when the checkpoint's classes are not those of `data`.
ModelSpec agreed_spec(ProcessGroup& group, const Checkpoint* checkpoint,
                      const std::vector<std::string>& classes, const std::string& data,
                      const std::filesystem::path& run, const std::function<ModelSpec()>& make);

/// sact::Error, in every process, when one of them was started with other settings or data than the
/// first: they would wait for each other, or learn nonsense. `differing` is what this one has
/// otherwise.
void expect_same_start(ProcessGroup& group, const std::vector<std::string>& differing);

}  // namespace sact::train
