#include "train/loop/sgd.h"

namespace sact::train {

Sgd::Sgd(torch::OrderedDict<std::string, torch::Tensor> parameters, SgdOptions options)
    : options_(options) {
  for (auto& item : parameters) {
    if (!item.value().requires_grad()) continue;
    names_.push_back(item.key());
    parameters_.push_back(item.value());
    velocities_.push_back(torch::zeros_like(item.value()).detach());
    if (options_.decay_norms || item.value().dim() > 1) {
      decayed_index_.push_back(parameters_.size() - 1);
      decayed_.push_back(item.value());
    }
    const bool halting = item.key().find(".halting.") != std::string::npos;
    Group& group = group_of(halting ? options_.halting_rate : 1);
    group.parameters.push_back(item.value());
    group.velocities.push_back(velocities_.back());
  }
}

Sgd::Group& Sgd::group_of(double factor) {
  for (Group& group : groups_) {
    if (group.factor == factor) return group;
  }
  groups_.push_back({factor, {}, {}});
  return groups_.back();
}

double Sgd::step(double rate) {
  torch::NoGradGuard no_grad;
  const std::vector<torch::Tensor> gradients = this->gradients();
  std::vector<torch::Tensor> decayed_gradients;
  double norm = -1;
  if (options_.clip_norm > 0) {
    const std::vector<torch::Tensor> norms = at::_foreach_norm(gradients, 2);
    norm = torch::stack(norms).norm().item<double>();
    if (norm > options_.clip_norm) at::_foreach_mul_(gradients, options_.clip_norm / norm);
  }
  if (options_.weight_decay > 0) {
    for (size_t i : decayed_index_) decayed_gradients.push_back(gradients[i]);
    at::_foreach_add_(decayed_gradients, decayed_, options_.weight_decay);
  }
  at::_foreach_mul_(velocities_, options_.momentum);
  at::_foreach_add_(velocities_, gradients, 1);
  for (Group& group : groups_) {
    at::_foreach_add_(group.parameters, group.velocities, -rate * group.factor);
  }
  return norm;
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
  return state;
}

}  // namespace sact::train
