#include "engine/cuda/plan.h"

#include "base/error.h"

namespace sact::engine {

DeviceUnit CudaPlan::put_unit(const UnitSteps& steps, const Folding& folding) {
  DeviceUnit unit;
  std::optional<Affine> norm;
  if (steps.preactivation) {
    norm = folding.norm(*steps.preactivation);
    unit.preactivation = memory.put_norm(*norm);
  }
  // Windows need their operands normalised before, because they reach beyond the image.
  const Affine* before = norm && steps.convolutions[0].kernel == 1 ? &*norm : nullptr;
  if (steps.shortcut) unit.shortcut = memory.put_layer(folding.layer(*steps.shortcut), before);
  for (size_t i = 0; i < steps.convolutions.size(); ++i) {
    unit.layers.push_back(
        memory.put_layer(folding.layer(steps.convolutions[i]), i == 0 ? before : nullptr));
  }
  SACT_ASSERT(unit.layers.size() == (unit.layers[0].kernel == 1 ? 3u : 2u));
  unit.relu = steps.relu;
  if (steps.halting) unit.score = memory.put_score(folding.score(*steps.halting));
  return unit;
}

CudaPlan::CudaPlan(const ModelSpec& model, const WeightSource& weights, cuda::Element elements,
                   const DeviceFacts& facts)
    : spec(model), type(elements), device(facts), memory(elements) {
  SACT_ASSERT(!spec.detection);  // its parts are networks; see model/detection.h
  const Folding folding(spec, weights);
  const Architecture& architecture = folding.architecture();
  if (architecture.stem) {
    stem = memory.put_layer(folding.layer(architecture.stem->convolution));
  }
  for (const auto& block : architecture.blocks) {
    blocks.emplace_back();
    for (const UnitSteps& unit : block) blocks.back().push_back(put_unit(unit, folding));
  }
  if (architecture.head) {
    const FoldedLayer linear = folding.layer(architecture.head->linear);
    head.emplace();
    if (architecture.head->norm)
      head->norm = memory.put_norm(folding.norm(*architecture.head->norm));
    head->name = linear.step.name;
    head->depth = linear.step.in;
    head->columns = linear.step.out;
    head->weights = memory.put(linear.weights);
    head->bias = memory.put(linear.bias);
  }
  memory.wait();
}

}  // namespace sact::engine
