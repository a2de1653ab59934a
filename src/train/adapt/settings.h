// The settings of a run that makes a dense network adaptive, each declared once.
#pragma once

#include <string>
#include <vector>

#include "train/classify/settings.h"

namespace sact::train {

struct AdaptSettings : PhotographSettings, BudgetSettings {
  static constexpr const char* kCommand = "sact adapt";

  AdaptSettings() {
    halting = "sact";
    halting_scale = 0;
    score_floor = 0.05;
    val_split = 0.05;
    epochs = 10;
    batch = 64;
    rate = 1e-3;
    schedule = "cosine";
    halting_rate = 30;
    tau = 0.02;
    weight_decay = 0;
    decay_norms = false;
    clip_norm = 5;
    size = 0;
    crop_min_area = 0.3;
    brightness = contrast = saturation = hue = 0;
  }

  // What is adapted, and on what.
  std::string start;
  std::vector<std::string> images;
  std::vector<std::string> val;
  std::string val_data;
  std::string train = "all";
  std::string norms = "frozen";

  std::string optimizer = "sgd";

  // Halting in training.
  std::string scores = "hard";
  double steepness = 1000;
  double halting_noise = 1;
  double noise_fade = 0.6;

  // The loss.
  double kl = 1;
  double temperature = 1;
  double features = 1;
};
void validate(const AdaptSettings& settings);

}  // namespace sact::train
