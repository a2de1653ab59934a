#include "train/adapt/settings.h"

#include "train/classify/photograph_settings_list.h"
#include "train/loop/common_settings_list.h"

namespace sact::train {

template <typename Settings, typename Visit>
requires std::is_same_v<std::remove_const_t<Settings>, AdaptSettings>
void for_each_setting(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines, runs = SettingKind::kRuns;
  visit("init", s.init, defines, "the dense network");
  visit("start", s.start, defines,
        "adaptive network of an earlier run to begin from; none: the dense network itself");
  visit("images", s.images, defines, "folders of photographs, separated by commas");
  visit("val", s.val, defines, "folders of photographs to evaluate on; none: see val_split");
  visit("val_split", s.val_split, defines, "share of the photographs that is held out to evaluate");
  visit("val_data", s.val_data, defines,
        "image folder with classes of the network, to measure accuracy on as well");
  visit("halting", s.halting, defines, "sact or act");
  visit("score_floor", s.score_floor, defines,
        "floor under halting scores; 0: the paper's rule, which starts only near the network");
  visit(
      "scores", s.scores, defines,
      "in training, soft: the mean of states; hard: a position halts for good or goes on in full");
  visit("steepness", s.steepness, defines, "hard: factor of what the scores are the sigmoids of");
  visit("halting_noise", s.halting_noise, defines, "hard: noise on that, before the factor");
  visit("noise_fade", s.noise_fade, defines, "hard: share of the run over which it falls to 0");
  visit_halting_rule(s, visit);
  visit_halting_start(s, visit);
  visit("train", s.train, defines,
        "what learns: all, or halting: the rest stays as in the dense network");
  visit("norms", s.norms, defines,
        "frozen: norms keep their moving averages and use them; train: they follow the batches");
  visit("norm_decay", s.norm_decay, defines, "decay of the moving averages of norms that train");
  visit("kl", s.kl, defines, "weight of the divergence from the dense network's probabilities");
  visit("temperature", s.temperature, defines, "by which logits are divided for these");
  visit("features", s.features, defines, "weight of the distance from its blocks' outputs");
  visit("tau", s.tau, defines, "weight of the ponder cost in the loss; with a budget, at first");
  visit("tau_warmup_epochs", s.tau_warmup_epochs, defines,
        "linear rise of tau at the start; steering begins after it");
  visit("budget", s.budget, defines,
        "share of the dense network's FLOPs that tau is steered to; 0: tau stays");
  visit_budget(s, visit);
  visit("optimizer", s.optimizer, defines, "sgd or adam");
  visit_descent(s, visit);
  visit_epoch_schedule(s, visit);
  visit_halting_descent(s, visit);
  visit("seed", s.seed, defines, "seed of order and augmentation");
  visit("size", s.size, defines, "side of training images; 0: as the dense network's");
  visit_augmentation(s, visit);
  visit("cuda_graph", s.cuda_graph, runs, "on CUDA, record a step's kernels once and replay them");
  visit_running(s, visit);
  visit("cache", s.cache, runs, "keep decoded images: none, memory, or auto (where they fit)");
  visit("samples", s.samples, runs, "ponder map pictures at every evaluation");
}

SACT_INSTANTIATE_SETTINGS(AdaptSettings);

void validate(const AdaptSettings& s) {
  if (s.init.empty()) fail("setting 'init' is missing: name the dense network that is to adapt");
  if (s.images.empty()) fail("setting 'images' is missing: give folders of photographs");
  validate_photographs(s);
  check_setting_name("halting", s.halting, {"sact", "act"});
  check_setting_name("train", s.train, {"all", "halting"});
  check_setting_name("norms", s.norms, {"frozen", "train"});
  check_setting_name("optimizer", s.optimizer, {"sgd", "adam"});
  check_setting_name("scores", s.scores, {"soft", "hard"});
  check_setting_range("steepness", s.steepness, 1.0, 1e4);
  check_setting_range("halting_noise", s.halting_noise, 0.0, 100.0);
  check_setting_range("noise_fade", s.noise_fade, 0.0, 1.0);
  if (s.train == "halting" && s.norms == "train") {
    fail("setting 'norms': with train=halting the dense network stays as it is; use norms=frozen");
  }
  if (s.val.empty()) check_setting_range("val_split", s.val_split, 0.0001, 0.9);
  check_setting_range("kl", s.kl, 0.0, 1e6);
  check_setting_range("temperature", s.temperature, 0.01, 1000.0);
  check_setting_range("features", s.features, 0.0, 1e6);
  validate_budget(s, s.tau);
  if (s.size != 0) check_setting_range("size", s.size, 32, 4096);
}

}  // namespace sact::train
