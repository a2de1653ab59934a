#include "model/hard_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "halting/halting.h"

namespace sact {
namespace {

/// FLOPs when every position gets one unit of each block, and all others of block `full` besides.
int64_t flops_with_full_block(const ModelSpec& spec, Size image, std::span<const LayerCost> layers,
                              int full) {
  std::vector<BlockActivity> activity;
  for (int block = 0; block < spec.blocks(); ++block) {
    const int64_t positions = spec.block_size(block, image).positions();
    activity.emplace_back(size_t(spec.units[size_t(block)]));
    for (size_t unit = 0; unit < activity.back().size(); ++unit) {
      if (unit == 0 || block == full) activity.back()[unit] = {positions, positions};
    }
  }
  return adaptive_flops(layers, activity);
}

constexpr int kNoBlock = -1;

double rounded_up(double share) {
  return std::ceil(share * 1000) / 1000;
}

/// The positions that go on as 0 and 1, and what that comes to.
UnitActivity activity_of(std::span<const int32_t> going_on, Size size) {
  return block_activity(going_on, size, 1).front();
}

/// Positions in the order in which they are kept, and how many there are at the end of each group.
struct Ranking {
  std::vector<int32_t> positions;
  std::vector<size_t> ends = {0};
};

Ranking rank(std::span<const float> cumulative, float threshold, Size size, int side) {
  const auto group = [&](int32_t position) {
    return side == 1 ? position
                     : position / size.width / side * size.width + position % size.width / side;
  };
  const auto key = [&](int32_t position) {
    return std::tuple(cumulative[size_t(position)], group(position));
  };
  Ranking ranking;
  for (int32_t p = 0; p < int32_t(cumulative.size()); ++p) {
    if (cumulative[size_t(p)] < threshold) ranking.positions.push_back(p);
  }
  std::sort(ranking.positions.begin(), ranking.positions.end(),
            [&](int32_t a, int32_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
  for (size_t i = 1; i <= ranking.positions.size(); ++i) {
    if (i == ranking.positions.size() ||
        key(ranking.positions[i]) != key(ranking.positions[i - 1])) {
      ranking.ends.push_back(i);
    }
  }
  return ranking;
}

}  // namespace

int64_t HardBudget::UnitCost::of(const UnitActivity& activity) const {
  if (activity.active == 0) return 0;
  return active * activity.active + dilated * activity.dilated + once;
}

double HardBudget::smallest(const ModelSpec& spec, Size image) {
  const auto layers = layer_list(spec, image);
  return rounded_up(double(flops_with_full_block(spec, image, layers, kNoBlock)) /
                    double(dense_flops(spec, image)));
}

HardBudget::HardBudget(const ModelSpec& spec, Size image, double share)
    : threshold_(halting_threshold(spec.epsilon)),
      group_side_(spec.halting == Halting::kSact ? spec.tile : std::numeric_limits<int>::max()) {
  SACT_ASSERT(spec.adaptive() && share > 0);
  const std::vector<LayerCost> layers = layer_list(spec, image);
  const int64_t least = flops_with_full_block(spec, image, layers, kNoBlock);
  most_ = int64_t(share * double(dense_flops(spec, image)));
  if (most_ < least) {
    fail(
        "a hard budget of {:g} of the dense network's FLOPs is too small: stem, head and the first "
        "unit of every block take {:g} of them at {}x{}",
        share, smallest(spec, image), image.height, image.width);
  }
  std::vector<int64_t> optional;
  for (int b = 0; b < spec.blocks(); ++b) {
    optional.push_back(flops_with_full_block(spec, image, layers, b) - least);
    blocks_.push_back(
        {spec.block_size(b, image), std::vector<UnitCost>(size_t(spec.units[size_t(b)])), 0});
  }
  for (const LayerCost& layer : layers) {
    if (layer.unit < 1) continue;  // in the minimum
    UnitCost& cost = blocks_[size_t(layer.block)].units[size_t(layer.unit)];
    SACT_ASSERT(layer.domain != Domain::kDense);
    (layer.domain == Domain::kDilated  ? cost.dilated
     : layer.domain == Domain::kActive ? cost.active
                                       : cost.once) += layer.flops(1);
  }
  double all = 0, up_to_here = 0;
  for (const int64_t flops : optional) all += double(flops);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    up_to_here += double(optional[b]);
    // The last has all that is left.
    blocks_[b].allowance = b + 1 == blocks_.size()
                               ? most_ - least
                               : int64_t(double(most_ - least) * (all > 0 ? up_to_here / all : 0));
  }
}

HardBudget::Terms HardBudget::terms(int number, int unit) const {
  const Block& block = blocks_[size_t(number)];
  return {threshold_, group_side_, block.units.at(size_t(unit) + 1), block.allowance};
}

void HardBudget::limit(int number, int unit, std::span<float> cumulative, Account& account) const {
  const Block& block = blocks_[size_t(number)];
  SACT_ASSERT(int64_t(cumulative.size()) == block.size.positions());
  const UnitCost cost = terms(number, unit).next_unit;
  const int64_t left = block.allowance - account.spent;
  std::vector<int32_t> going_on(cumulative.size());
  for (size_t p = 0; p < cumulative.size(); ++p) going_on[p] = cumulative[p] < threshold_;
  int64_t flops = cost.of(activity_of(going_on, block.size));
  if (flops > left) {
    // Fewer positions never cost more: their dilations are nested.
    const Ranking ranking = rank(cumulative, threshold_, block.size, group_side_);
    const auto keep = [&](size_t groups) {
      std::fill(going_on.begin(), going_on.end(), 0);
      for (size_t i = 0; i < ranking.ends[groups]; ++i) going_on[size_t(ranking.positions[i])] = 1;
      flops = cost.of(activity_of(going_on, block.size));
    };
    size_t affordable = 0, too_many = ranking.ends.size() - 1;
    while (too_many - affordable > 1) {
      const size_t middle = affordable + (too_many - affordable) / 2;
      keep(middle);
      (flops <= left ? affordable : too_many) = middle;
    }
    keep(affordable);
    for (size_t i = ranking.ends[affordable]; i < ranking.positions.size(); ++i) {
      cumulative[size_t(ranking.positions[i])] = 1;
    }
  }
  account.spent += flops;
}

}  // namespace sact
