// Settings that trainings have in common. A training's own struct derives from these, changes
// defaults in its constructor and adds its own; its for_each_setting() lists them all.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sact::train {

/// Of every training.
struct CommonSettings {
  // What is trained.
  std::string init;
  std::string halting = "auto";
  double halting_bias = -3;
  double halting_scale = 0.01;
  double tau = 0.005;

  // How.
  int epochs = 90;
  int batch = 32;
  double rate = 0.05;
  std::string schedule = "step";
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool decay_norms = true;
  double clip_norm = 0;
  std::string precision = "fp32";
  int64_t seed = 0;
  double flip = 0.5;

  // Running.
  int workers = 0;
  bool cuda_graph = true;
  double max_corrupt = 0.01;
  int log_every = 20;
  double checkpoint_minutes = 10;
  int eval_every = 1;
  int samples = 8;
};

/// Of a training that can begin with fresh weights.
struct NewNetworkSettings {
  std::string data;
  std::vector<int> units;
  std::string stem = "imagenet";
  std::string unit = "bottleneck";
  int width = 64;
  double residual_scale = 1;
};

/// Of a training in which tau can follow from the work that is wanted (train/torch/steering.h).
struct BudgetSettings {
  double budget = 0;
  double budget_ramp = 0.45;
  double steering = 0.1;
  double tau_max = 1;
};
/// The share that is wanted at a step of so many: it falls from what the network took at first.
double ramped_budget(double budget, double ramp, double first_share, int64_t step, int64_t steps);

/// Throw sact::Error, naming the key, when a value makes no sense.
void validate_common(const CommonSettings& settings);
void validate_new_network(const NewNetworkSettings& settings);
void validate_budget(const BudgetSettings& settings, double tau);

/// A struct of settings: it names the command that lists them, and has a for_each_setting() and a
/// validate(), which throws sact::Error when a value makes no sense.
template <typename Settings>
concept SettingsStruct = std::derived_from<Settings, CommonSettings>;

// These are defined in settings_table.h; every struct's source file instantiates them.

/// JSON with every key, in the order of declaration.
template <SettingsStruct Settings>
std::string to_json(const Settings& settings, int indent = 2);

/// Sets the keys in the JSON; an unknown key or wrong type is an error. `name` is used in messages.
template <SettingsStruct Settings>
void set_from_json(Settings& settings, std::string_view json, const std::string& name);

/// Sets one key from text such as "epochs=40" or "units=2,2,2,2".
template <SettingsStruct Settings>
void set_from_text(Settings& settings, const std::string& assignment);

/// A table of every key with its default and meaning, for --help.
template <SettingsStruct Settings>
std::string settings_help();

/// "rate: 0.1 -> 0.2" for every key in which the two differ, leaving out changes that are allowed
/// between a run and its resumption (how it runs, and more epochs) unless `all` are wanted.
template <SettingsStruct Settings>
std::vector<std::string> differences(const Settings& run, const Settings& asked, bool all = false);

}  // namespace sact::train
