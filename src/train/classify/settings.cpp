#include "train/classify/settings.h"

#include "model/spec.h"
#include "train/loop/settings_table.h"

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
  visit("units", s.units, defines, "residual units of each block, such as 3,4,23,3");
  visit("halting", s.halting, defines, "none, act, sact, or auto: as init, else none");
  visit("stem", s.stem, defines, "imagenet or small");
  visit("unit", s.unit, defines, unit_kinds_help());
  visit("width", s.width, defines, "width of block 1");
  visit("epsilon", s.epsilon, defines, "positions halt at 1 - epsilon; 0: as init, else 0.01");
  visit("score_floor", s.score_floor, defines,
        "floor under halting scores, which makes low ones 0; 0: as init, else none");
  visit("tile", s.tile, defines, "side of tiles that halt together; 0: as init, else 1");
  visit("halting_norm", s.halting_norm, defines,
        "batch norm before halting scores: true, false, or auto: as init, else true");
  visit("residual_scale", s.residual_scale, defines, "scale of every unit's residual at the start");
  visit("norm_decay", s.norm_decay, defines, "decay of the norms' moving averages");
  visit("halting_bias", s.halting_bias, defines, "initial bias of halting scores");
  visit("halting_reach", s.halting_reach, defines,
        "initial scores add up to one after this share of a block's units; 0: see halting_bias");
  visit("halting_scale", s.halting_scale, defines, "deviation of initial halting weights");
  visit("tau", s.tau, defines, "weight of the ponder cost in the loss");
  visit("tau_warmup_epochs", s.tau_warmup_epochs, defines, "linear rise of tau at the start");
  visit("epochs", s.epochs, SettingKind::kGrows, "passes over the training set");
  visit("batch", s.batch, defines, "images in a step, of each process");
  visit("rate", s.rate, defines, "learning rate");
  visit("schedule", s.schedule, defines, "step or cosine");
  visit("step_epochs", s.step_epochs, defines, "step schedule: epochs between drops");
  visit("step_factor", s.step_factor, defines, "step schedule: factor of a drop");
  visit("warmup_epochs", s.warmup_epochs, defines, "linear rise of the rate at the start");
  visit("halting_rate", s.halting_rate, defines, "factor of the rate for halting scores");
  visit("halting_gradient_floor", s.halting_gradient_floor, defines,
        "smallest slope of the sigmoid for gradients that pull a score back from 0 or 1");
  visit("momentum", s.momentum, defines, "momentum of SGD");
  visit("weight_decay", s.weight_decay, defines, "weight decay");
  visit("decay_norms", s.decay_norms, defines, "weight decay also on norms and biases");
  visit("label_smoothing", s.label_smoothing, defines, "share of the label given to all classes");
  visit("clip_norm", s.clip_norm, defines, "largest norm of the gradient; 0: no limit");
  visit("sync_norms", s.sync_norms, defines, "norm statistics over all processes, not in each");
  visit("precision", s.precision, defines, "fp32 or bf16 (CUDA)");
  visit("seed", s.seed, defines, "seed of weights, order and augmentation");
  visit("size", s.size, defines, "side of training images");
  visit("storage_size", s.storage_size, defines, "side at which images are kept; 0: from the data");
  visit("eval_size", s.eval_size, defines, "side of evaluation images; 0: as size");
  visit("crop_min_area", s.crop_min_area, defines, "smallest share of the image in a random crop");
  visit("crop_max_aspect", s.crop_max_aspect, defines, "largest aspect ratio of a random crop");
  visit("flip", s.flip, defines, "probability of a horizontal flip");
  visit("brightness", s.brightness, defines, "largest change of brightness");
  visit("contrast", s.contrast, defines, "largest change of contrast");
  visit("saturation", s.saturation, defines, "largest change of saturation");
  visit("hue", s.hue, defines, "largest change of hue, in turns of half a circle");
  visit("workers", s.workers, runs, "decoding threads; 0: all available");
  visit("cache", s.cache, runs, "keep decoded images: none, memory, or auto (where they fit)");
  visit("cuda_graph", s.cuda_graph, runs, "on CUDA, record a step's kernels once and replay them");
  visit("max_corrupt", s.max_corrupt, runs, "share of unreadable images that is tolerated");
  visit("log_every", s.log_every, runs, "steps between looks at the losses, which go to events/");
  visit("checkpoint_minutes", s.checkpoint_minutes, runs, "time between checkpoints in an epoch");
  visit("eval_every", s.eval_every, runs, "epochs between evaluations; the last is always run");
  visit("samples", s.samples, runs, "ponder map pictures at every evaluation");
}

namespace {
constexpr const char* kCommand = "sact train";
}

void validate(const TrainSettings& s) {
  if (s.data.empty()) fail("setting 'data' is missing: give an image folder, or data=synthetic");
  check_setting_range("val_split", s.val_split, 0.0, 0.9);
  check_setting_name("halting", s.halting, {"auto", "none", "act", "sact"});
  check_setting_name("halting_norm", s.halting_norm, {"auto", "true", "false"});
  check_setting_name("stem", s.stem, {"imagenet", "small"});
  unit_from_name(s.unit, "setting 'unit'");
  check_setting_name("schedule", s.schedule, {"step", "cosine"});
  check_setting_name("precision", s.precision, {"fp32", "bf16"});
  check_setting_name("cache", s.cache, {"auto", "none", "memory"});
  if (s.depth != 0 && !s.units.empty()) fail("give 'depth' or 'units', not both");
  check_setting_range("residual_scale", s.residual_scale, 0.0, 10.0);
  check_setting_range("norm_decay", s.norm_decay, 0.0, 1.0);
  check_setting_range("epochs", s.epochs, 1, 100000);
  check_setting_range("batch", s.batch, 1, 65536);
  check_setting_range("rate", s.rate, 0.0, 1000.0);
  check_setting_range("step_epochs", s.step_epochs, 1, 100000);
  check_setting_range("step_factor", s.step_factor, 0.0, 1.0);
  check_setting_range("warmup_epochs", s.warmup_epochs, 0.0, double(s.epochs));
  check_setting_range("momentum", s.momentum, 0.0, 0.9999);
  check_setting_range("weight_decay", s.weight_decay, 0.0, 1.0);
  check_setting_range("label_smoothing", s.label_smoothing, 0.0, 0.99);
  check_setting_range("clip_norm", s.clip_norm, 0.0, 1e9);
  check_setting_range("tau", s.tau, 0.0, 1000.0);
  check_setting_range("tau_warmup_epochs", s.tau_warmup_epochs, 0.0, double(s.epochs));
  check_setting_range("halting_rate", s.halting_rate, 0.0, 1000.0);
  check_setting_range("score_floor", s.score_floor, 0.0, 0.99);
  check_setting_range("halting_bias", s.halting_bias, -100.0, 100.0);
  if (s.halting_reach != 0) check_setting_range("halting_reach", s.halting_reach, 0.6, 100.0);
  check_setting_range("halting_gradient_floor", s.halting_gradient_floor, 0.0, 0.25);
  check_setting_range("halting_scale", s.halting_scale, 0.0, 100.0);
  check_setting_range("size", s.size, 32, 4096);
  if (s.storage_size != 0) check_setting_range("storage_size", s.storage_size, 32, 4096);
  if (s.eval_size != 0) check_setting_range("eval_size", s.eval_size, 32, 4096);
  check_setting_range("crop_min_area", s.crop_min_area, 0.001, 1.0);
  check_setting_range("crop_max_aspect", s.crop_max_aspect, 1.0, 10.0);
  check_setting_range("flip", s.flip, 0.0, 1.0);
  check_setting_range("brightness", s.brightness, 0.0, 1.0);
  check_setting_range("contrast", s.contrast, 0.0, 1.0);
  check_setting_range("saturation", s.saturation, 0.0, 1.0);
  check_setting_range("hue", s.hue, 0.0, 1.0);
  check_setting_range("workers", s.workers, 0, 1024);
  check_setting_range("max_corrupt", s.max_corrupt, 0.0, 1.0);
  check_setting_range("log_every", s.log_every, 1, 1'000'000);
  check_setting_range("checkpoint_minutes", s.checkpoint_minutes, 0.0, 1e6);
  check_setting_range("eval_every", s.eval_every, 1, 100000);
  check_setting_range("samples", s.samples, 0, 1000);
}

std::string to_json(const TrainSettings& settings, int indent) {
  return settings_to_json(settings, indent);
}

void set_from_json(TrainSettings& settings, std::string_view json, const std::string& name) {
  settings = read_settings(json, name, kCommand, std::move(settings));
}

void set_from_text(TrainSettings& settings, const std::string& assignment) {
  set_setting(settings, assignment, kCommand);
}

std::string settings_help() {
  return help_on_settings<TrainSettings>();
}

std::vector<std::string> differences(const TrainSettings& run, const TrainSettings& asked,
                                     bool all) {
  return settings_differences(run, asked, all);
}

RateSchedule rate_schedule(const TrainSettings& settings, int64_t steps_per_epoch) {
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

double ponder_weight(const TrainSettings& settings, int64_t step, int64_t steps_per_epoch) {
  const double rise = settings.tau_warmup_epochs * double(steps_per_epoch);
  return double(step) < rise ? settings.tau * double(step) / rise : settings.tau;
}

}  // namespace sact::train
