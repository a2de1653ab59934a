#include "train/torch/steering.h"

#include <cmath>

namespace sact::train {
namespace {

constexpr double kTauMin = 1e-6;
constexpr double kForgetting = 0.1;  // of the running mean of shares, in a step
constexpr double kProportion = 10;   // of log tau to the excess

}  // namespace

SteeringImpl::SteeringImpl(const SteeringOptions& options) : options_(options) {
  auto scalar = [&](const char* name, double value) {
    return register_buffer(name, torch::full({1}, value, torch::kFloat32));
  };
  tau_ = scalar("tau", options.tau);
  share_ = scalar("share", 1);
  mean_share_ = scalar("mean_share", 1);
  first_share_ = scalar("first_share", 1);
  log_tau_ = scalar("log_tau", std::log(std::max(options.tau, kTauMin)));
}

void SteeringImpl::note_first_share() {
  first_share_.copy_(share_);
  known_first_share_.reset();
}

double SteeringImpl::known_first_share() {
  if (!known_first_share_) known_first_share_ = first_share_.item<double>();
  return *known_first_share_;
}

void SteeringImpl::update(double budget, bool first) {
  torch::NoGradGuard no_grad;
  mean_share_.lerp_(share_, first ? 1.0 : kForgetting);
  const torch::Tensor excess = mean_share_ - budget;
  log_tau_.add_(excess * options_.gain).clamp_(std::log(kTauMin), std::log(options_.tau_max));
  tau_.copy_((log_tau_ + kProportion * excess).exp().clamp(kTauMin, options_.tau_max));
}

}  // namespace sact::train
