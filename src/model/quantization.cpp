#include "model/quantization.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/architecture.h"

namespace sact {

std::string input_scale_name(std::string_view layer) {
  return std::string(layer) + ".input_scale";
}

std::string weight_scale_name(std::string_view layer) {
  return std::string(layer) + ".weight_scale";
}

std::vector<QuantizedLayer> quantized_layers(const ModelSpec& spec) {
  const Architecture architecture(spec);
  std::vector<QuantizedLayer> layers;
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) {
      const std::string& first = unit.convolutions.front().name;
      if (unit.shortcut) layers.push_back({unit.shortcut->name, first});
      for (const ConvStep& step : unit.convolutions) layers.push_back({step.name, step.name});
    }
  }
  return layers;
}

QuantizedWeights quantized(std::span<const float> weights, int64_t channels) {
  SACT_ASSERT(channels > 0 && weights.size() % size_t(channels) == 0);
  const size_t inputs = weights.size() / size_t(channels);
  QuantizedWeights result{std::vector<int8_t>(weights.size()), {}};
  for (size_t channel = 0; channel < size_t(channels); ++channel) {
    const auto own = weights.subspan(channel * inputs, inputs);
    float largest = 0;
    for (const float weight : own) largest = std::max(largest, std::abs(weight));
    const float scale = largest > 0 ? largest / kLargestWeight : 1.0f;
    result.scales.push_back(scale);
    for (size_t i = 0; i < inputs; ++i) {
      const float whole = std::clamp(own[i] / scale, -float(kLargestWeight), float(kLargestWeight));
      result.values[channel * inputs + i] = int8_t(std::nearbyint(whole));
    }
  }
  return result;
}

std::vector<float> dequantized(std::span<const int8_t> values, std::span<const float> scales) {
  SACT_ASSERT(!scales.empty() && values.size() % scales.size() == 0);
  const size_t inputs = values.size() / scales.size();
  std::vector<float> weights(values.size());
  for (size_t i = 0; i < values.size(); ++i) weights[i] = float(values[i]) * scales[i / inputs];
  return weights;
}

}  // namespace sact
