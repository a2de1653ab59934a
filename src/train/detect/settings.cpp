#include "train/detect/settings.h"

#include "model/spec.h"
#include "train/loop/settings_table.h"

namespace sact::train {

template <typename Settings, typename Visit>
requires std::is_same_v<std::remove_const_t<Settings>, DetectionSettings>
void for_each_setting(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines, runs = SettingKind::kRuns;
  visit("data", s.data, defines,
        "folder with COCO or Pascal VOC annotations, or synthetic[:size=128,count=2000]");
  visit("train", s.train, defines,
        "split to train on: annotations/instances_SPLIT.json, or a list");
  visit("val", s.val, defines, "split to evaluate on");
  visit("init", s.init, defines, "classifier or detector whose weights to start from");
  visit("units", s.units, defines, "residual units of each block, such as 3,4,23,3");
  visit("halting", s.halting, defines, "none, act, sact, or auto: as the model it starts from");
  visit("stem", s.stem, defines, "imagenet or small");
  visit("unit", s.unit, defines, unit_kinds_help());
  visit("width", s.width, defines, "width of block 1");
  visit("shorter_side", s.shorter_side, defines, "images are scaled to this shorter side");
  visit("anchor_sizes", s.anchor_sizes, defines, "roots of the areas of anchors, in pixels");
  visit("anchor_ratios", s.anchor_ratios, defines, "heights of anchors over their widths");
  visit("proposal_channels", s.proposal_channels, defines, "width of the proposal layer");
  visit("proposals", s.proposals, defines, "boxes of an image that are classified");
  visit("halting_bias", s.halting_bias, defines, "initial bias of halting scores");
  visit("halting_scale", s.halting_scale, defines, "deviation of initial halting weights");
  visit("residual_scale", s.residual_scale, defines, "scale of every unit's residual at the start");
  visit("tau", s.tau, defines, "weight of the extractor's ponder cost in the loss");
  visit("epochs", s.epochs, SettingKind::kGrows, "passes over the training set");
  visit("batch", s.batch, defines, "images in a step, of each process");
  visit("rate", s.rate, defines, "learning rate");
  visit("schedule", s.schedule, defines, "step or cosine");
  visit("drops", s.drops, defines, "step schedule: shares of the run after which the rate drops");
  visit("drop_factor", s.drop_factor, defines, "step schedule: factor of a drop");
  visit("warmup_steps", s.warmup_steps, defines, "linear rise of the rate at the start");
  visit("momentum", s.momentum, defines, "momentum of SGD");
  visit("weight_decay", s.weight_decay, defines, "weight decay");
  visit("decay_norms", s.decay_norms, defines, "weight decay also on norms and biases");
  visit("clip_norm", s.clip_norm, defines, "largest norm of the gradient; 0: no limit");
  visit("flip", s.flip, defines, "probability of a horizontal flip");
  visit("anchor_batch", s.anchor_batch, defines, "anchors of an image in the loss");
  visit("box_batch", s.box_batch, defines, "boxes of an image in the loss");
  visit("precision", s.precision, defines, "fp32 or bf16 (CUDA)");
  visit("seed", s.seed, defines, "seed of weights, order and draws");
  visit("workers", s.workers, runs, "decoding threads; 0: all available");
  visit("cuda_graph", s.cuda_graph, runs,
        "on CUDA, record the kernels of a shape once and replay them");
  visit("checkpoint_minutes", s.checkpoint_minutes, runs, "time between checkpoints in an epoch");
  visit("max_corrupt", s.max_corrupt, runs, "share of unreadable images that is tolerated");
  visit("log_every", s.log_every, runs, "steps between looks at the losses, which go to events/");
  visit("eval_every", s.eval_every, runs, "epochs between evaluations; the last is always run");
  visit("samples", s.samples, runs, "pictures at every evaluation");
}

namespace {
constexpr const char* kCommand = "sact train-detector";
}

void validate(const DetectionSettings& s) {
  if (s.data.empty()) {
    fail("setting 'data' is missing: give a folder with annotations, or data=synthetic");
  }
  check_setting_name("halting", s.halting, {"auto", "none", "act", "sact"});
  check_setting_name("stem", s.stem, {"imagenet", "small"});
  unit_from_name(s.unit, "setting 'unit'");
  check_setting_name("schedule", s.schedule, {"step", "cosine"});
  check_setting_name("precision", s.precision, {"fp32", "bf16"});
  check_setting_range("halting_bias", s.halting_bias, -100.0, 100.0);
  check_setting_range("halting_scale", s.halting_scale, 0.0, 100.0);
  check_setting_range("residual_scale", s.residual_scale, 0.0, 10.0);
  check_setting_range("tau", s.tau, 0.0, 1000.0);
  check_setting_range("epochs", s.epochs, 1, 1'000'000);
  check_setting_range("batch", s.batch, 1, 1024);
  check_setting_range("rate", s.rate, 0.0, 1000.0);
  for (double drop : s.drops) check_setting_range("drops", drop, 0.0, 1.0);
  check_setting_range("drop_factor", s.drop_factor, 0.0, 1.0);
  check_setting_range("warmup_steps", s.warmup_steps, 0.0, 1e9);
  check_setting_range("momentum", s.momentum, 0.0, 0.9999);
  check_setting_range("weight_decay", s.weight_decay, 0.0, 1.0);
  check_setting_range("clip_norm", s.clip_norm, 0.0, 1e9);
  check_setting_range("flip", s.flip, 0.0, 1.0);
  check_setting_range("anchor_batch", s.anchor_batch, 2, 100'000);
  check_setting_range("box_batch", s.box_batch, 4, 10'000);  // a quarter of them on objects
  check_setting_range("workers", s.workers, 0, 1024);
  check_setting_range("checkpoint_minutes", s.checkpoint_minutes, 0.0, 1e6);
  check_setting_range("max_corrupt", s.max_corrupt, 0.0, 1.0);
  check_setting_range("log_every", s.log_every, 1, 1'000'000);
  check_setting_range("eval_every", s.eval_every, 1, 1'000'000);
  check_setting_range("samples", s.samples, 0, 100);
}

std::string to_json(const DetectionSettings& settings, int indent) {
  return settings_to_json(settings, indent);
}

void set_from_json(DetectionSettings& settings, std::string_view json, const std::string& name) {
  settings = read_settings(json, name, kCommand, std::move(settings));
}

void set_from_text(DetectionSettings& settings, const std::string& assignment) {
  set_setting(settings, assignment, kCommand);
}

std::string detection_settings_help() {
  return help_on_settings<DetectionSettings>();
}

std::vector<std::string> differences(const DetectionSettings& run, const DetectionSettings& asked,
                                     bool all) {
  return settings_differences(run, asked, all);
}

RateSchedule rate_schedule(const DetectionSettings& settings, int64_t steps) {
  RateSchedule schedule;  // in shares of the run
  schedule.rate = settings.rate;
  schedule.warmup_steps = settings.warmup_steps;
  schedule.unit = double(steps);
  schedule.cosine = settings.schedule == "cosine";
  schedule.drop_factor = settings.drop_factor;
  schedule.drops = settings.drops;
  return schedule;
}

}  // namespace sact::train
