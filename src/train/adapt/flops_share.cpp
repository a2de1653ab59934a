#include "train/adapt/flops_share.h"

#include "model/flops.h"

namespace sact::train {

FlopsShare::FlopsShare(const ModelSpec& spec, Size image) {
  const double dense = double(dense_flops(spec, image));
  for (const int count : spec.units) units_.emplace_back(size_t(count));
  for (const LayerCost& layer : layer_list(spec, image)) {
    const double share = double(layer.flops(layer.positions())) / dense;
    if (layer.domain == Domain::kDense) {
      always_ += share;
      continue;
    }
    Unit& unit = units_[size_t(layer.block)][size_t(layer.unit)];
    if (layer.domain == Domain::kActive) unit.active += share;
    if (layer.domain == Domain::kDilated) unit.dilated += share;
    if (layer.domain == Domain::kOnce) unit.once += share;
  }
  double sum = 0, halting_blocks = 0;
  for (const auto& block : units_) {  // the last unit has no halting score, which would count too
    weights_.push_back(block.size() > 1 ? block.back().active + block.back().dilated : 0);
    sum += weights_.back();
    halting_blocks += block.size() > 1;
  }
  for (double& weight : weights_) weight = sum > 0 ? weight * halting_blocks / sum : 1;
}

double FlopsShare::full() const {
  double share = always_;
  for (const auto& block : units_) {
    for (const Unit& unit : block) share += unit.active + unit.dilated + unit.once;
  }
  return share;
}

torch::Tensor FlopsShare::of(const std::vector<BlockOutput>& blocks) const {
  torch::NoGradGuard no_grad;
  torch::Tensor share = torch::full({}, always_, blocks.front().units.options());
  auto add = [&](const torch::Tensor& units, int unit, double whole) {
    if (whole > 0) share = share + units.ge(unit).to(torch::kFloat32).mean() * whole;
  };
  for (size_t block = 0; block < blocks.size(); ++block) {
    const torch::Tensor& units = blocks[block].units;  // N: unit l is active where N >= l
    const torch::Tensor around =
        torch::max_pool2d(units.unsqueeze(1), /*kernel_size=*/3, /*stride=*/1, /*padding=*/1);
    const torch::Tensor most = units.amax({1, 2});
    for (size_t l = 0; l < units_[block].size(); ++l) {
      const Unit& unit = units_[block][l];
      add(units, int(l) + 1, unit.active);
      add(around, int(l) + 1, unit.dilated);
      add(most, int(l) + 1, unit.once);
    }
  }
  return share;
}

torch::Tensor FlopsShare::ponder_cost(const std::vector<BlockOutput>& blocks) const {
  torch::Tensor sum;
  for (size_t block = 0; block < blocks.size(); ++block) {
    const torch::Tensor mean = blocks[block].ponder_cost.mean() * weights_[block];
    sum = sum.defined() ? sum + mean : mean;
  }
  return sum;
}

}  // namespace sact::train
