#include "engine/cpu/quantized.h"

#include "base/error.h"

namespace sact::engine {

void expect_input_scales(const ModelSpec& spec, const InputScales& scales,
                         const std::string& name) {
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    if (scales.contains(layer.name)) continue;
    fail(
        "{}: has no scales to run in int8; 'sact export {} --dtype int8 --calibrate PHOTOGRAPHS "
        "--out FILE' makes a model that has",
        name.empty() ? "this network" : printable(name), name.empty() ? "MODEL" : printable(name));
  }
}

LayerScales scales_of(const UnitSteps& unit, size_t convolution, const InputScales& scales) {
  const bool last = convolution + 1 == unit.convolutions.size();
  return {scales.at(unit.convolutions[convolution].name),
          last ? 1.0f : scales.at(unit.convolutions[convolution + 1].name)};
}

Affine quantizing_norm(const std::optional<Affine>& norm, int channels, float scale) {
  Affine result;
  if (norm) {
    result = *norm;
  } else {
    result = {std::vector<float>(size_t(channels), 1.0f), std::vector<float>(size_t(channels))};
  }
  for (float& factor : result.scale) factor /= scale;
  for (float& shift : result.shift) shift /= scale;
  return result;
}

}  // namespace sact::engine
