#include "train/detect/settings.h"

#include "model/spec.h"
#include "train/loop/common_settings_list.h"

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
  visit_new_network(s, visit);
  visit("halting", s.halting, defines, "none, act, sact, or auto: as the model it starts from");
  visit("score_floor", s.score_floor, defines,
        "below this the sigmoid of a halting score counts as 0; 0: as init");
  visit("shorter_side", s.shorter_side, defines, "images are scaled to this shorter side");
  visit("train_sides", s.train_sides, defines,
        "in training, shorter sides of which each step draws one; none: shorter_side");
  visit("anchor_sizes", s.anchor_sizes, defines,
        "roots of the areas of anchors, in pixels; none: five that suit shorter_side");
  visit("anchor_ratios", s.anchor_ratios, defines, "heights of anchors over their widths");
  visit("proposal_channels", s.proposal_channels, defines, "width of the proposal layer");
  visit("proposals", s.proposals, defines, "boxes of an image that are classified");
  visit_halting_start(s, visit);
  visit("tau", s.tau, defines,
        "weight of the extractor's ponder cost in the loss; with a budget, at first");
  visit("budget", s.budget, defines,
        "share of the dense extractor's FLOPs that tau is steered to; 0: tau stays");
  visit("head_tau", s.head_tau, defines,
        "weight of the ponder cost of what classifies boxes; with a budget, at first");
  visit("head_budget", s.head_budget, defines,
        "share of the FLOPs of what classifies boxes that head_tau is steered to; 0: it stays");
  visit_budget(s, visit);
  visit(
      "freeze", s.freeze, defines,
      "parts that do not learn, but for halting scores: 1: the stem, 2: and the first block, ...; "
      "-1: 2 with init, else 0");
  visit("norms", s.norms, defines,
        "scales and shifts of norms: frozen, train, or auto: frozen with init");
  visit("scores", s.scores, defines,
        "halting in training: soft (the paper's rule), or hard: a position goes on or halts for "
        "good");
  visit("steepness", s.steepness, defines, "hard scores: factor of what the sigmoid is taken of");
  visit("halting_rate", s.halting_rate, defines, "factor of the rate for halting scores");
  visit_descent(s, visit);
  visit("drops", s.drops, defines, "step schedule: shares of the run after which the rate drops");
  visit("drop_factor", s.drop_factor, defines, "step schedule: factor of a drop");
  visit("warmup_steps", s.warmup_steps, defines, "linear rise of the rate at the start");
  visit("anchor_batch", s.anchor_batch, defines, "anchors of an image in the loss");
  visit("box_batch", s.box_batch, defines, "boxes of an image in the loss");
  visit("seed", s.seed, defines, "seed of weights, order and draws");
  visit("cuda_graph", s.cuda_graph, runs,
        "on CUDA, record the kernels of a shape once and replay them");
  visit_running(s, visit);
  visit("cache", s.cache, runs, "keep decoded images: none, memory, or auto (where they fit)");
  visit("samples", s.samples, runs, "pictures at every evaluation");
}

SACT_INSTANTIATE_SETTINGS(DetectionSettings);

void validate(const DetectionSettings& s) {
  if (s.data.empty()) {
    fail("setting 'data' is missing: give a folder with annotations, or data=synthetic");
  }
  validate_common(s);
  validate_new_network(s);
  validate_budget(s, s.tau);
  check_setting_range("head_tau", s.head_tau, 0.0, 1000.0);
  if (s.head_budget != 0) {
    check_setting_range("head_budget", s.head_budget, 0.01, 1.0);
    check_setting_range("head_tau", s.first_head_tau(), 1e-6, s.tau_max);
  }
  check_setting_range("batch", s.batch, 1, 1024);
  for (double drop : s.drops) check_setting_range("drops", drop, 0.0, 1.0);
  check_setting_range("drop_factor", s.drop_factor, 0.0, 1.0);
  check_setting_range("warmup_steps", s.warmup_steps, 0.0, 1e9);
  check_setting_range("anchor_batch", s.anchor_batch, 2, 100'000);
  check_setting_range("box_batch", s.box_batch, 4, 10'000);  // a quarter of them on objects
  check_setting_range("samples", s.samples, 0, 100);
  check_setting_range("score_floor", s.score_floor, 0.0, 0.5);
  check_setting_range("freeze", s.freeze, -1, 100);
  check_setting_name("norms", s.norms, {"auto", "frozen", "train"});
  check_setting_name("scores", s.scores, {"soft", "hard"});
  check_setting_range("steepness", s.steepness, 1.0, 1e6);
  check_setting_range("halting_rate", s.halting_rate, 0.0, 1e6);
  check_setting_name("cache", s.cache, {"auto", "none", "memory"});
  for (int side : s.train_sides) {
    check_setting_range("train_sides", side, kMinImageSide, kMaxImageSide);
  }
  if (s.hard() && s.init.empty()) {
    fail("setting 'scores': hard needs a network to start from; give init, or scores=soft");
  }
}

std::vector<double> usual_anchor_sizes(int shorter_side) {
  std::vector<double> sizes;
  for (int i = 0; i < 5; ++i) sizes.push_back(shorter_side / 20.0 * (1 << i));
  return sizes;
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
