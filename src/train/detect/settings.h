// The settings of a detector's training run, each declared once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/loop/common_settings.h"
#include "train/loop/schedule.h"

namespace sact::train {

struct DetectionSettings : CommonSettings, NewNetworkSettings, BudgetSettings {
  static constexpr const char* kCommand = "sact train-detector";

  DetectionSettings() {
    epochs = 20;
    batch = 8;
    rate = 5e-3;
    decay_norms = false;
    clip_norm = 10;
    samples = 4;
  }

  // What is trained.
  std::string train = "train2017";
  std::string val = "val2017";
  double score_floor = 0;
  int shorter_side = 600;
  std::vector<double> anchor_sizes;
  std::vector<double> anchor_ratios = {0.5, 1, 2};
  int proposal_channels = 512;
  int proposals = 300;

  // What learns.
  int freeze = -1;
  std::string norms = "auto";
  std::string scores = "soft";
  double steepness = 1000;
  double halting_rate = 1;
  double head_tau = 0;
  double head_budget = 0;
  /// At the start of a run: a budget needs something to steer.
  double first_head_tau() const { return head_tau == 0 && head_budget > 0 ? 0.005 : head_tau; }

  // How.
  std::vector<int> train_sides;
  std::vector<double> drops = {2.0 / 3, 5.0 / 6};
  double drop_factor = 0.1;
  double warmup_steps = 0;
  int anchor_batch = 256;
  int box_batch = 64;

  // Running.
  std::string cache = "auto";

  /// The parts of the network that stay as they are: the stem, then block by block.
  int frozen_parts() const { return freeze >= 0 ? freeze : init.empty() ? 0 : 2; }
  bool norms_learn() const { return norms == "auto" ? init.empty() : norms == "train"; }
  bool hard() const { return scores == "hard"; }
  /// Shorter sides of images in training.
  std::vector<int> sides() const {
    return train_sides.empty() ? std::vector<int>{shorter_side} : train_sides;
  }
};
void validate(const DetectionSettings& settings);

/// Five sizes of anchors for images of that shorter side: from a twentieth of it on, each twice the
/// one before.
std::vector<double> usual_anchor_sizes(int shorter_side);

/// The rate of a run of so many steps.
RateSchedule rate_schedule(const DetectionSettings& settings, int64_t steps);

}  // namespace sact::train
