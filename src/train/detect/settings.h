// The settings of a detector's training run, each declared once as in settings.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/loop/schedule.h"

namespace sact::train {

struct DetectionSettings {
  // What is trained.
  std::string data;
  std::string train = "train2017";
  std::string val = "val2017";
  std::string init;
  std::vector<int> units;
  std::string halting = "auto";
  std::string stem = "imagenet";
  std::string unit = "bottleneck";
  int width = 64;
  int shorter_side = 600;
  std::vector<double> anchor_sizes = {64, 128, 256, 512};
  std::vector<double> anchor_ratios = {0.5, 1, 2};
  int proposal_channels = 512;
  int proposals = 300;
  double halting_bias = -3;
  double halting_scale = 0.01;
  double residual_scale = 1;
  double tau = 0.005;

  // How.
  int epochs = 20;
  int batch = 1;
  double rate = 3e-4;
  std::string schedule = "step";
  std::vector<double> drops = {2.0 / 3, 5.0 / 6};
  double drop_factor = 0.1;
  double warmup_steps = 0;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool decay_norms = false;
  double clip_norm = 10;
  double flip = 0.5;
  int anchor_batch = 256;
  int box_batch = 64;
  std::string precision = "fp32";
  int64_t seed = 0;

  // Running.
  int workers = 0;
  bool cuda_graph = true;
  double checkpoint_minutes = 10;
  double max_corrupt = 0.01;
  int log_every = 20;
  int eval_every = 1;
  int samples = 4;
};

/// Throws sact::Error, naming the key, when a value makes no sense.
void validate(const DetectionSettings& settings);

std::string to_json(const DetectionSettings& settings, int indent = 2);
void set_from_json(DetectionSettings& settings, std::string_view json, const std::string& name);
void set_from_text(DetectionSettings& settings, const std::string& assignment);
std::string detection_settings_help();
std::vector<std::string> differences(const DetectionSettings& run, const DetectionSettings& asked,
                                     bool all = false);

/// The rate of a run of so many steps.
RateSchedule rate_schedule(const DetectionSettings& settings, int64_t steps);

}  // namespace sact::train
