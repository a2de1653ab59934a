// The lists of PhotographSettings, for the structs that derive from it.
#pragma once

#include "train/loop/settings_table.h"

namespace sact::train {

template <typename Settings, typename Visit>
void visit_halting_rule(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("epsilon", s.epsilon, defines, "positions halt at 1 - epsilon; 0: as init, else 0.01");
  visit("tile", s.tile, defines, "side of tiles that halt together; 0: as init, else 1");
  visit("halting_norm", s.halting_norm, defines,
        "batch norm before halting scores: true, false, or auto: as init, else true");
}

template <typename Settings, typename Visit>
void visit_epoch_schedule(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("step_epochs", s.step_epochs, defines, "step schedule: epochs between drops");
  visit("step_factor", s.step_factor, defines, "step schedule: factor of a drop");
  visit("warmup_epochs", s.warmup_epochs, defines, "linear rise of the rate at the start");
}

template <typename Settings, typename Visit>
void visit_halting_descent(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("halting_rate", s.halting_rate, defines, "factor of the rate for halting scores");
  visit("halting_gradient_floor", s.halting_gradient_floor, defines,
        "smallest slope of the sigmoid for gradients that pull a score back from 0 or 1");
}

template <typename Settings, typename Visit>
void visit_augmentation(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("storage_size", s.storage_size, defines, "side at which images are kept; 0: from the data");
  visit("eval_size", s.eval_size, defines, "side of evaluation images; 0: as size");
  visit("crop_min_area", s.crop_min_area, defines, "smallest share of the image in a random crop");
  visit("crop_max_aspect", s.crop_max_aspect, defines, "largest aspect ratio of a random crop");
  visit("brightness", s.brightness, defines, "largest change of brightness");
  visit("contrast", s.contrast, defines, "largest change of contrast");
  visit("saturation", s.saturation, defines, "largest change of saturation");
  visit("hue", s.hue, defines, "largest change of hue, in turns of half a circle");
}

}  // namespace sact::train
