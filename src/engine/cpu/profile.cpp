#include "engine/cpu/profile.h"

#include <fmt/format.h>

namespace sact::engine {
namespace {

const char* widened(kernels::WeightStorage stored) {
  switch (stored) {
    case kernels::WeightStorage::kBFloat16:
      return " with weights of bf16";
    case kernels::WeightStorage::kFloat16:
      return " with weights of fp16";
    case kernels::WeightStorage::kOperand:
      break;
  }
  return "";
}

}  // namespace

std::vector<DescribedLayer> described_layers(const Plan& plan,
                                             const std::vector<LayerProfile>& profile) {
  std::vector<DescribedLayer> layers;
  auto add = [&](const PackedLayer& layer) {
    const kernels::PackedWeights& weights = layer.weights;
    layers.push_back({layer.name, weights.taps, weights.depth, weights.columns, false,
                      profile[size_t(layer.index)], layer.type(), weights.stored});
  };
  auto add_score = [&](const PackedScore& score) {
    layers.push_back({score.name, score.taps ? kernels::kScoreTaps : 1, int(score.global.size()), 1,
                      true, profile[size_t(score.index)]});
  };
  if (plan.stem) add(*plan.stem);
  for (const auto& block : plan.blocks) {
    for (const PackedUnit& unit : block) {
      if (unit.shortcut) add(*unit.shortcut);
      for (const PackedLayer& layer : unit.layers) add(layer);
      if (unit.score) add_score(*unit.score);
    }
  }
  if (plan.head) add(plan.head->layer);
  return layers;
}

std::string line_of(const DescribedLayer& layer, const Plan& plan) {
  const LayerProfile& profile = layer.profile;
  if (profile.rows == 0) {
    return fmt::format("{}: not run, all positions had halted", layer.name);
  }
  return fmt::format(
      "{}: {} rows, {}, {} {}{}, taps in {} ({}), threads {} x {} (rows x columns: {}), {:.3f} ms",
      layer.name, profile.rows, layer.product(), plan.table.name, kernels::name_of(layer.type),
      widened(layer.stored), kernels::name_of(profile.taps.order), profile.taps.why,
      profile.split.row_parts, profile.split.column_parts, profile.split.why,
      1e3 * profile.seconds);
}

}  // namespace sact::engine
