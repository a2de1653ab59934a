// The settings of a detector's training run, each declared once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/loop/common_settings.h"
#include "train/loop/schedule.h"

namespace sact::train {

struct DetectionSettings : CommonSettings, NewNetworkSettings {
  static constexpr const char* kCommand = "sact train-detector";

  DetectionSettings() {
    epochs = 20;
    batch = 1;
    rate = 3e-4;
    decay_norms = false;
    clip_norm = 10;
    samples = 4;
  }

  // What is trained.
  std::string train = "train2017";
  std::string val = "val2017";
  int shorter_side = 600;
  std::vector<double> anchor_sizes = {64, 128, 256, 512};
  std::vector<double> anchor_ratios = {0.5, 1, 2};
  int proposal_channels = 512;
  int proposals = 300;

  // How.
  std::vector<double> drops = {2.0 / 3, 5.0 / 6};
  double drop_factor = 0.1;
  double warmup_steps = 0;
  int anchor_batch = 256;
  int box_batch = 64;
};
void validate(const DetectionSettings& settings);

/// The rate of a run of so many steps.
RateSchedule rate_schedule(const DetectionSettings& settings, int64_t steps);

}  // namespace sact::train
