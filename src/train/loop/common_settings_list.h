// The lists of CommonSettings, NewNetworkSettings and BudgetSettings, for the structs that derive
// from them. Keys whose meaning differs between trainings (init, halting, tau, seed, cuda_graph,
// samples, data) are listed by each of them.
#pragma once

#include "train/loop/settings_table.h"

namespace sact::train {

/// "bottleneck, basic, ...": the kinds of residual units.
inline const char* unit_kinds_help() {
  static const std::string text = fmt::format("{}", fmt::join(unit_names(), ", "));
  return text.c_str();
}

template <typename Settings, typename Visit>
void visit_new_network(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("units", s.units, defines, "residual units of each block, such as 3,4,23,3");
  visit("stem", s.stem, defines, "imagenet or small");
  visit("unit", s.unit, defines, unit_kinds_help());
  visit("width", s.width, defines, "width of block 1");
  visit("residual_scale", s.residual_scale, defines, "scale of every unit's residual at the start");
}

template <typename Settings, typename Visit>
void visit_halting_start(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("halting_bias", s.halting_bias, defines, "initial bias of halting scores");
  visit("halting_scale", s.halting_scale, defines, "deviation of initial halting weights");
}

template <typename Settings, typename Visit>
void visit_budget(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("budget_ramp", s.budget_ramp, defines,
        "share of the run over which a budget falls from what the first step took");
  visit("steering", s.steering, defines, "growth of log tau in a step for each share too much");
  visit("tau_max", s.tau_max, defines, "steering leaves tau below this");
}

template <typename Settings, typename Visit>
void visit_descent(Settings& s, Visit&& visit) {
  const SettingKind defines = SettingKind::kDefines;
  visit("epochs", s.epochs, SettingKind::kGrows, "passes over the training set");
  visit("batch", s.batch, defines, "images in a step, of each process");
  visit("rate", s.rate, defines, "learning rate");
  visit("schedule", s.schedule, defines, "step or cosine");
  visit("momentum", s.momentum, defines, "momentum");
  visit("weight_decay", s.weight_decay, defines, "weight decay");
  visit("decay_norms", s.decay_norms, defines, "weight decay also on norms and biases");
  visit("clip_norm", s.clip_norm, defines, "largest norm of the gradient; 0: no limit");
  visit("precision", s.precision, defines, "fp32 or bf16 (CUDA)");
  visit("flip", s.flip, defines, "probability of a horizontal flip");
}

template <typename Settings, typename Visit>
void visit_running(Settings& s, Visit&& visit) {
  const SettingKind runs = SettingKind::kRuns;
  visit("workers", s.workers, runs, "decoding threads; 0: all available");
  visit("max_corrupt", s.max_corrupt, runs, "share of unreadable images that is tolerated");
  visit("log_every", s.log_every, runs, "steps between looks at the losses, which go to events/");
  visit("checkpoint_minutes", s.checkpoint_minutes, runs, "time between checkpoints in an epoch");
  visit("eval_every", s.eval_every, runs, "epochs between evaluations; the last is always run");
}

}  // namespace sact::train
