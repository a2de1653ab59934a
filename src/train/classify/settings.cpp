#include "train/classify/settings.h"

#include "train/classify/photograph_settings_list.h"
#include "train/loop/common_settings_list.h"

namespace sact::train {

/// The one list of settings.
template <typename Settings, typename Visit>
requires std::is_same_v<std::remove_const_t<Settings>, TrainSettings>
void for_each_setting(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines, runs = SettingKind::kRuns;
  visit("data", s.data, defines,
        "image folder, CIFAR-10 folder, or synthetic[:size=64,count=5000]");
  visit("val_split", s.val_split, defines,
        "share of each class held out where the data have no val/");
  visit("boxes", s.boxes, defines, "bounding boxes: a CSV file or a folder of XML files");
  visit("class_names", s.class_names, defines, "text file with names of the classes");
  visit("init", s.init, defines, "model file whose weights to start from");
  visit("depth", s.depth, defines, "50, 101 or 152; 0: see units");
  visit_new_network(s, visit);
  visit("halting", s.halting, defines, "none, act, sact, or auto: as init, else none");
  visit_halting_rule(s, visit);
  visit("score_floor", s.score_floor, defines,
        "floor under halting scores, which makes low ones 0; 0: as init, else none");
  visit("norm_decay", s.norm_decay, defines, "decay of the norms' moving averages");
  visit_halting_start(s, visit);
  visit("halting_reach", s.halting_reach, defines,
        "initial scores add up to one after this share of a block's units; 0: see halting_bias");
  visit("tau", s.tau, defines, "weight of the ponder cost in the loss");
  visit("tau_warmup_epochs", s.tau_warmup_epochs, defines, "linear rise of tau at the start");
  visit_descent(s, visit);
  visit_epoch_schedule(s, visit);
  visit_halting_descent(s, visit);
  visit("label_smoothing", s.label_smoothing, defines, "share of the label given to all classes");
  visit("sync_norms", s.sync_norms, defines, "norm statistics over all processes, not in each");
  visit("seed", s.seed, defines, "seed of weights, order and augmentation");
  visit("size", s.size, defines, "side of training images");
  visit_augmentation(s, visit);
  visit("cuda_graph", s.cuda_graph, runs, "on CUDA, record a step's kernels once and replay them");
  visit_running(s, visit);
  visit("cache", s.cache, runs, "keep decoded images: none, memory, or auto (where they fit)");
  visit("samples", s.samples, runs, "ponder map pictures at every evaluation");
}

SACT_INSTANTIATE_SETTINGS(TrainSettings);

void validate_photographs(const PhotographSettings& s) {
  validate_common(s);
  check_setting_range("val_split", s.val_split, 0.0, 0.9);
  check_setting_name("halting_norm", s.halting_norm, {"auto", "true", "false"});
  check_setting_name("cache", s.cache, {"auto", "none", "memory"});
  check_setting_range("norm_decay", s.norm_decay, 0.0, 1.0);
  check_setting_range("step_epochs", s.step_epochs, 1, 100000);
  check_setting_range("step_factor", s.step_factor, 0.0, 1.0);
  check_setting_range("warmup_epochs", s.warmup_epochs, 0.0, double(s.epochs));
  check_setting_range("tau_warmup_epochs", s.tau_warmup_epochs, 0.0, double(s.epochs));
  check_setting_range("halting_rate", s.halting_rate, 0.0, 1e6);
  check_setting_range("score_floor", s.score_floor, 0.0, 0.99);
  if (s.halting_reach != 0) check_setting_range("halting_reach", s.halting_reach, 0.6, 100.0);
  check_setting_range("halting_gradient_floor", s.halting_gradient_floor, 0.0, 0.25);
  if (s.storage_size != 0) check_setting_range("storage_size", s.storage_size, 32, 4096);
  if (s.eval_size != 0) check_setting_range("eval_size", s.eval_size, 32, 4096);
  check_setting_range("crop_min_area", s.crop_min_area, 0.001, 1.0);
  check_setting_range("crop_max_aspect", s.crop_max_aspect, 1.0, 10.0);
  check_setting_range("brightness", s.brightness, 0.0, 1.0);
  check_setting_range("contrast", s.contrast, 0.0, 1.0);
  check_setting_range("saturation", s.saturation, 0.0, 1.0);
  check_setting_range("hue", s.hue, 0.0, 1.0);
}

void validate(const TrainSettings& s) {
  if (s.data.empty()) fail("setting 'data' is missing: give an image folder, or data=synthetic");
  validate_photographs(s);
  validate_new_network(s);
  if (s.depth != 0 && !s.units.empty()) fail("give 'depth' or 'units', not both");
  check_setting_range("label_smoothing", s.label_smoothing, 0.0, 0.99);
  check_setting_range("size", s.size, 32, 4096);
}

RateSchedule rate_schedule(const PhotographSettings& settings, int64_t steps_per_epoch) {
  RateSchedule schedule;  // in epochs
  schedule.rate = settings.rate;
  schedule.warmup_steps = settings.warmup_epochs * double(steps_per_epoch);
  schedule.unit = double(steps_per_epoch);
  schedule.cosine = settings.schedule == "cosine";
  schedule.cosine_from = settings.warmup_epochs;
  schedule.cosine_to = double(settings.epochs);
  schedule.drop_factor = settings.step_factor;
  schedule.drop_every = double(settings.step_epochs);
  return schedule;
}

double ponder_weight(const PhotographSettings& settings, int64_t step, int64_t steps_per_epoch) {
  const double rise = settings.tau_warmup_epochs * double(steps_per_epoch);
  return double(step) < rise ? settings.tau * double(step) / rise : settings.tau;
}

}  // namespace sact::train
