#include "train/torch/flops_share.h"

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

torch::Tensor FlopsShare::of_images(const std::vector<BlockOutput>& blocks) const {
  torch::NoGradGuard no_grad;
  const torch::Tensor& first = blocks.front().units;
  torch::Tensor share = torch::full({first.size(0)}, always_, first.options());
  for (size_t block = 0; block < blocks.size(); ++block) {
    const torch::Tensor& units = blocks[block].units;  // N: unit l is active where N >= l
    const torch::Tensor& positions = blocks[block].positions;
    torch::Tensor around = torch::max_pool2d(units.unsqueeze(1), /*kernel_size=*/3, /*stride=*/1,
                                             /*padding=*/1)
                               .squeeze(1);
    if (positions.defined())
      around = around * units.gt(0);  // N is 0 in padding, and 1 or more else
    const torch::Tensor most = units.amax({1, 2});
    auto share_of = [&](const torch::Tensor& map, int unit) {
      const torch::Tensor active = map.ge(unit).to(torch::kFloat32);
      return positions.defined() ? active.sum({1, 2}) / positions : active.mean({1, 2});
    };
    for (size_t l = 0; l < units_[block].size(); ++l) {
      const Unit& unit = units_[block][l];
      const int number = int(l) + 1;
      if (unit.active > 0) share = share + share_of(units, number) * unit.active;
      if (unit.dilated > 0) share = share + share_of(around, number) * unit.dilated;
      if (unit.once > 0) share = share + most.ge(number).to(torch::kFloat32) * unit.once;
    }
  }
  return share;
}

torch::Tensor FlopsShare::of(const std::vector<BlockOutput>& blocks) const {
  return of_images(blocks).mean();
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
