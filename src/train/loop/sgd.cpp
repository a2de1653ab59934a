#include "train/loop/sgd.h"

#include <cmath>

#include "model/architecture.h"

namespace sact::train {
namespace {

constexpr double kSquareDecay = 0.99, kSmall = 1e-8;  // of Adam

}  // namespace

void descend_with_steep_scores(SgdOptions& options, double steepness) {
  options.halting_rate *= options.adam ? steepness : steepness * steepness;
  options.decay_halting = false;
}

Sgd::Sgd(torch::OrderedDict<std::string, torch::Tensor> parameters, SgdOptions options)
    : options_(options) {
  for (auto& item : parameters) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    velocities_.push_back(torch::zeros_like(item.value()).detach());
    if (options_.adam) squares_.push_back(torch::zeros_like(item.value()).detach());
    const bool halting = is_of_halting(item.key());
    const bool decays =
        (options_.decay_norms || item.value().dim() > 1) && (options_.decay_halting || !halting);
    if (decays) {
      decayed_index_.push_back(parameters_.size() - 1);
      decayed_.push_back(item.value());
    }
    double factor = halting ? options_.halting_rate : 1;
    // Adam moves every weight as far; so many of them must not move a score further than its bias.
    if (halting && options_.adam) factor /= double(item.value().numel());
    Group& group = group_of(factor);
    group.parameters.push_back(item.value());
    group.velocities.push_back(velocities_.back());
    if (options_.adam) group.squares.push_back(squares_.back());
    if (decays) group.decayed.push_back(item.value());
  }
}

Sgd::Group& Sgd::group_of(double factor) {
  for (Group& group : groups_) {
    if (group.factor == factor) return group;
  }
  groups_.push_back({factor, {}, {}, {}, {}});
  return groups_.back();
}

double Sgd::step(double rate, int64_t step) {
  torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = this->gradients();
  const double norm = options_.clip_norm > 0 ? clip(gradients) : -1;
  if (options_.adam) {
    descend_adam(gradients, rate, step);
  } else {
    descend(gradients, rate);
  }
  return norm;
}

double Sgd::clip(const std::vector<torch::Tensor>& gradients) const {
  const std::vector<torch::Tensor> norms = at::_foreach_norm(gradients, 2);
  const double norm = torch::stack(norms).norm().item<double>();
  if (norm > options_.clip_norm) at::_foreach_mul_(gradients, options_.clip_norm / norm);
  return norm;
}

void Sgd::descend(const std::vector<torch::Tensor>& gradients, double rate) {
  if (options_.weight_decay > 0) {
    std::vector<torch::Tensor> decayed_gradients;
    for (size_t i : decayed_index_) decayed_gradients.push_back(gradients[i]);
    at::_foreach_add_(decayed_gradients, decayed_, options_.weight_decay);
  }
  at::_foreach_mul_(velocities_, options_.momentum);
  at::_foreach_add_(velocities_, gradients, 1);
  for (Group& group : groups_) {
    at::_foreach_add_(group.parameters, group.velocities, -rate * group.factor);
  }
}

void Sgd::descend_adam(const std::vector<torch::Tensor>& gradients, double rate, int64_t step) {
  at::_foreach_mul_(velocities_, options_.momentum);
  at::_foreach_add_(velocities_, gradients, 1 - options_.momentum);
  at::_foreach_mul_(squares_, kSquareDecay);
  at::_foreach_addcmul_(squares_, gradients, gradients, 1 - kSquareDecay);
  const double steps = double(step + 1);
  const double mean_scale = 1 / (1 - std::pow(options_.momentum, steps));
  const double square_scale = 1 / (1 - std::pow(kSquareDecay, steps));
  for (Group& group : groups_) {
    const double group_rate = rate * group.factor;
    if (options_.weight_decay > 0 && !group.decayed.empty()) {
      at::_foreach_mul_(group.decayed, 1 - group_rate * options_.weight_decay);
    }
    std::vector<torch::Tensor> deviations = at::_foreach_mul(group.squares, square_scale);
    at::_foreach_sqrt_(deviations);
    at::_foreach_add_(deviations, kSmall);
    at::_foreach_addcdiv_(group.parameters, group.velocities, deviations, -group_rate * mean_scale);
  }
}

std::vector<torch::Tensor> Sgd::gradients() {
  std::vector<torch::Tensor> gradients;
  for (torch::Tensor& parameter : parameters_) {
    if (!parameter.grad().defined()) {
      parameter.mutable_grad() = torch::zeros_like(parameter).detach();
    }
    gradients.push_back(parameter.grad());
  }
  return gradients;
}

void Sgd::zero_gradients() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

torch::OrderedDict<std::string, torch::Tensor> Sgd::state() const {
  torch::OrderedDict<std::string, torch::Tensor> state;
  for (size_t i = 0; i < names_.size(); ++i) state.insert(names_[i], velocities_[i]);
  for (size_t i = 0; i < squares_.size(); ++i) state.insert("square/" + names_[i], squares_[i]);
  return state;
}

}  // namespace sact::train
