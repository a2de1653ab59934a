#include "model/onnx_quantized.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/quantization.h"

namespace sact {
namespace {

/// Each channel's weights times a factor of its own.
void scale_channels(std::vector<float>& weights, const std::vector<double>& factors) {
  const size_t each = weights.size() / factors.size();
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = float(weights[i] * factors[i / each]);
}

/// Coarser weights for a channel, where its bias would not be a whole number of 32 bits otherwise:
/// such a bias is more than ten times what all its products can add up to.
void coarsen(OnnxQuantized& layer, size_t channel, float factor) {
  const size_t each = layer.weights.size() / layer.scales.size();
  layer.scales[channel] *= factor;
  for (size_t i = channel * each; i < (channel + 1) * each; ++i) {
    layer.weights[i] = int8_t(std::nearbyint(float(layer.weights[i]) / factor));
  }
}

}  // namespace

OnnxQuantizer::OnnxQuantizer(const ModelSpec& spec, const WeightValues& values)
    : norm_epsilon_(spec.norm_epsilon), values_(values) {
  for (const WeightInfo& info : weight_list(spec)) infos_.emplace(info.name, info);
}

std::vector<float> OnnxQuantizer::values(const std::string& name) const {
  return values_(infos_.at(name));
}

OnnxQuantized OnnxQuantizer::layer(const ConvStep& step, float input_scale) const {
  SACT_ASSERT(input_scale > 0);
  std::vector<float> weights = values(step.name + ".weight");
  const size_t channels = size_t(infos_.at(step.name + ".weight").shape[0]);
  std::vector<double> bias(channels);
  if (step.norm) {
    const std::string& norm = step.norm->name;
    const std::vector<float> scale = values(norm + ".weight"), shift = values(norm + ".bias");
    const std::vector<float> mean = values(norm + ".running_mean");
    const std::vector<float> variance = values(norm + ".running_var");
    std::vector<double> factors(channels);
    for (size_t c = 0; c < channels; ++c) {
      factors[c] = double(scale[c]) / std::sqrt(double(variance[c]) + norm_epsilon_);
      bias[c] = double(shift[c]) - double(mean[c]) * factors[c];
    }
    scale_channels(weights, factors);
  }
  QuantizedWeights whole = quantized(weights, int64_t(channels));
  OnnxQuantized layer{std::move(whole.values), std::move(whole.scales), {}, {}};
  for (size_t c = 0; c < channels; ++c) {
    if (!(layer.scales[c] > 0)) layer.scales[c] = 1;  // all of its weights are 0
    constexpr double kMost = 0x1p30;
    const double wanted = std::abs(bias[c]) / (double(input_scale) * layer.scales[c]);
    if (wanted > kMost) coarsen(layer, c, float(wanted / kMost));
    layer.bias_scales.push_back(input_scale * layer.scales[c]);
    layer.bias.push_back(int32_t(std::nearbyint(bias[c] / double(layer.bias_scales[c]))));
  }
  return layer;
}

}  // namespace sact
