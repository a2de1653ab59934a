#include "model/weights.h"

#include "model/architecture.h"

namespace sact {
namespace {

/// Collects the weights of steps.
class WeightCollector {
 public:
  void add(const ConvStep& step, WeightRole role = WeightRole::kConvolution) {
    weights.push_back({step.name + ".weight", {step.out, step.in, step.kernel, step.kernel}, role});
    if (step.bias) weights.push_back({step.name + ".bias", {step.out}, WeightRole::kLinearBias});
    add(step.norm);
  }
  void add(const std::optional<NormStep>& norm) {
    if (!norm) return;
    const io::Shape shape = {norm->channels};
    weights.push_back({norm->name + ".weight", shape, WeightRole::kNormScale});
    weights.push_back({norm->name + ".bias", shape, WeightRole::kNormShift});
    weights.push_back({norm->name + ".running_mean", shape, WeightRole::kNormMean});
    weights.push_back({norm->name + ".running_var", shape, WeightRole::kNormVariance});
  }
  void add(const HaltingStep& step) {
    const int channels = step.channels;
    if (step.local) {
      weights.push_back(
          {step.local_name() + ".weight", {1, channels, 3, 3}, WeightRole::kHaltingWeight});
      if (step.norms) add(step.local_norm());
    }
    weights.push_back({step.global_name() + ".weight", {1, channels}, WeightRole::kHaltingWeight});
    weights.push_back({step.global_name() + ".bias", {1}, WeightRole::kHaltingBias});
    if (step.norms) add(step.global_norm());
  }
  void add(const UnitSteps& unit) {
    if (unit.shortcut) add(*unit.shortcut);
    add(unit.preactivation);
    for (const ConvStep& step : unit.convolutions) add(step);
    if (unit.halting) add(*unit.halting);
  }
  void add(const ProposalSteps& steps) {
    add(steps.hidden);
    for (const ConvStep* step : {&steps.score, &steps.box}) add(*step, WeightRole::kLinear);
  }
  void add(const HeadSteps& head) {
    add(head.norm);
    const ConvStep& linear = head.linear;
    weights.push_back({linear.name + ".weight", {linear.out, linear.in}, WeightRole::kLinear});
    weights.push_back({linear.name + ".bias", {linear.out}, WeightRole::kLinearBias});
  }

  std::vector<WeightInfo> weights;
};

}  // namespace

int64_t WeightInfo::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::vector<WeightInfo> weight_list(const ModelSpec& spec) {
  const Architecture architecture(spec);
  WeightCollector collect;
  if (architecture.stem) collect.add(architecture.stem->convolution);
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) collect.add(unit);
  }
  if (architecture.proposals) collect.add(*architecture.proposals);
  if (architecture.head) collect.add(*architecture.head);
  return std::move(collect.weights);
}

int64_t parameter_count(const ModelSpec& spec) {
  int64_t count = 0;
  for (const WeightInfo& weight : weight_list(spec)) {
    if (weight.is_parameter()) count += weight.elements();
  }
  return count;
}

}  // namespace sact
