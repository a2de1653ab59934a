// The settings of a training run, each declared once: key, default and help in one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/loop/schedule.h"

namespace sact::train {

struct TrainSettings {
  // What is trained.
  std::string data;
  double val_split = 0;
  std::string boxes;
  std::string class_names;
  std::string init;
  int depth = 0;
  std::vector<int> units;
  std::string halting = "auto";
  std::string stem = "imagenet";
  std::string unit = "bottleneck";
  int width = 64;
  double epsilon = 0;
  double score_floor = 0;
  int tile = 0;
  std::string halting_norm = "auto";
  double residual_scale = 1;
  double norm_decay = 0.997;
  double halting_bias = -3;
  double halting_reach = 0;
  double halting_scale = 0.01;
  double tau = 0.005;
  double tau_warmup_epochs = 0;

  // How.
  int epochs = 90;
  int batch = 32;
  double rate = 0.05;
  std::string schedule = "step";
  int step_epochs = 30;
  double step_factor = 0.1;
  double warmup_epochs = 0;
  double halting_rate = 1;
  double halting_gradient_floor = 0;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool decay_norms = true;
  double label_smoothing = 0;
  double clip_norm = 0;
  bool sync_norms = false;
  std::string precision = "fp32";
  int64_t seed = 0;

  // Images.
  int size = 224;
  int storage_size = 0;
  int eval_size = 0;
  double crop_min_area = 0.08;
  double crop_max_aspect = 4.0 / 3;
  double flip = 0.5;
  double brightness = 0.125;
  double contrast = 0.5;
  double saturation = 0.5;
  double hue = 0.2;

  // Running.
  int workers = 0;
  std::string cache = "auto";
  bool cuda_graph = true;
  double max_corrupt = 0.01;
  int log_every = 20;
  double checkpoint_minutes = 10;
  int eval_every = 1;
  int samples = 8;
};

/// Throws sact::Error, naming the key, when a value makes no sense.
void validate(const TrainSettings& settings);

/// JSON with every key, in the order of declaration.
std::string to_json(const TrainSettings& settings, int indent = 2);

/// Sets the keys in the JSON; an unknown key or wrong type is an error. `name` is used in messages.
void set_from_json(TrainSettings& settings, std::string_view json, const std::string& name);

/// Sets one key from text such as "epochs=40" or "units=2,2,2,2".
void set_from_text(TrainSettings& settings, const std::string& assignment);

/// A table of every key with its default and meaning, for --help.
std::string settings_help();

/// "rate: 0.1 -> 0.2" for every key in which the two differ, leaving out changes that are allowed
/// between a run and its resumption (how it runs, and more epochs) unless `all` are wanted.
std::vector<std::string> differences(const TrainSettings& run, const TrainSettings& asked,
                                     bool all = false);

/// The rate of a run with so many steps in an epoch.
RateSchedule rate_schedule(const TrainSettings& settings, int64_t steps_per_epoch);

/// The weight of the ponder cost in the loss of step `step`: tau, after a linear rise from 0.
double ponder_weight(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch);

}  // namespace sact::train
