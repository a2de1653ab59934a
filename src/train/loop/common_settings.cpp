#include "train/loop/common_settings.h"

#include "model/spec.h"
#include "train/loop/settings_table.h"

namespace sact::train {

void validate_common(const CommonSettings& s) {
  check_setting_name("halting", s.halting, {"auto", "none", "act", "sact"});
  check_setting_name("schedule", s.schedule, {"step", "cosine"});
  check_setting_name("precision", s.precision, {"fp32", "bf16"});
  check_setting_range("halting_bias", s.halting_bias, -100.0, 100.0);
  check_setting_range("halting_scale", s.halting_scale, 0.0, 100.0);
  check_setting_range("tau", s.tau, 0.0, 1000.0);
  check_setting_range("epochs", s.epochs, 1, 1'000'000);
  check_setting_range("batch", s.batch, 1, 65536);
  check_setting_range("rate", s.rate, 0.0, 1000.0);
  check_setting_range("momentum", s.momentum, 0.0, 0.9999);
  check_setting_range("weight_decay", s.weight_decay, 0.0, 1.0);
  check_setting_range("clip_norm", s.clip_norm, 0.0, 1e9);
  check_setting_range("flip", s.flip, 0.0, 1.0);
  check_setting_range("workers", s.workers, 0, 1024);
  check_setting_range("max_corrupt", s.max_corrupt, 0.0, 1.0);
  check_setting_range("log_every", s.log_every, 1, 1'000'000);
  check_setting_range("checkpoint_minutes", s.checkpoint_minutes, 0.0, 1e6);
  check_setting_range("eval_every", s.eval_every, 1, 1'000'000);
  check_setting_range("samples", s.samples, 0, 1000);
}

void validate_new_network(const NewNetworkSettings& s) {
  check_setting_name("stem", s.stem, {"imagenet", "small"});
  unit_from_name(s.unit, "setting 'unit'");
  check_setting_range("residual_scale", s.residual_scale, 0.0, 10.0);
}

void validate_budget(const BudgetSettings& s, double tau) {
  check_setting_range("tau_max", s.tau_max, 1e-6, 1000.0);
  check_setting_range("steering", s.steering, 0.0, 100.0);
  check_setting_range("budget_ramp", s.budget_ramp, 0.0, 1.0);
  if (s.budget == 0) return;
  check_setting_range("budget", s.budget, 0.01, 1.0);
  check_setting_range("tau", tau, 1e-6, s.tau_max);  // a factor changes it
}

double ramped_budget(double budget, double ramp, double first_share, int64_t step, int64_t steps) {
  const double until = ramp * double(steps);
  if (double(step) >= until) return budget;
  return first_share + (budget - first_share) * double(step) / until;
}

}  // namespace sact::train
