// The settings of a training run, each declared once: key, default and help in one place.
#pragma once

#include <cstdint>
#include <string>

#include "train/loop/common_settings.h"
#include "train/loop/schedule.h"

namespace sact::train {

/// Of trainings that show a network single photographs and let it learn to halt.
struct PhotographSettings : CommonSettings {
  // What is trained.
  double val_split = 0;
  double epsilon = 0;
  double score_floor = 0;
  int tile = 0;
  std::string halting_norm = "auto";
  double norm_decay = 0.997;
  double halting_reach = 0;
  double tau_warmup_epochs = 0;

  // How.
  int step_epochs = 30;
  double step_factor = 0.1;
  double warmup_epochs = 0;
  double halting_rate = 1;
  double halting_gradient_floor = 0;

  // Images.
  int size = 224;
  int storage_size = 0;
  int eval_size = 0;
  double crop_min_area = 0.08;
  double crop_max_aspect = 4.0 / 3;
  double brightness = 0.125;
  double contrast = 0.5;
  double saturation = 0.5;
  double hue = 0.2;

  // Running.
  std::string cache = "auto";

  int eval_side() const { return eval_size ? eval_size : size; }
};

/// Throws sact::Error, naming the key, when a value makes no sense; all of CommonSettings too.
void validate_photographs(const PhotographSettings& settings);

struct TrainSettings : PhotographSettings, NewNetworkSettings {
  static constexpr const char* kCommand = "sact train";

  std::string boxes;
  std::string class_names;
  int depth = 0;
  double label_smoothing = 0;
  bool sync_norms = false;
};
void validate(const TrainSettings& settings);

/// The rate of a run with so many steps in an epoch.
RateSchedule rate_schedule(const PhotographSettings& settings, int64_t steps_per_epoch);

/// The weight of the ponder cost in the loss of step `step`: tau, after a linear rise from 0.
double ponder_weight(const PhotographSettings& settings, int64_t step, int64_t steps_per_epoch);

}  // namespace sact::train
