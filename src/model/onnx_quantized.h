// Convolutions in whole numbers of 8 bits as ONNX graphs hold them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/onnx.h"

namespace sact {

/// A convolution with the norm after it folded in, [out, ...]. Scales are above 0, as runtimes want
/// them.
struct OnnxQuantized {
  std::vector<int8_t> weights;
  std::vector<float> scales;       // of the weights, for each output channel
  std::vector<int32_t> bias;       // whole numbers, too, so that a sum can begin with it
  std::vector<float> bias_scales;  // the input's times the weights'
};

/// Makes them from a network's weights, one after another.
class OnnxQuantizer {
 public:
  OnnxQuantizer(const ModelSpec& spec, const WeightValues& values);

  /// `input_scale` is that of what the layer reads.
  OnnxQuantized layer(const ConvStep& step, float input_scale) const;

 private:
  std::vector<float> values(const std::string& name) const;

  const double norm_epsilon_;
  const WeightValues& values_;
  std::map<std::string, WeightInfo> infos_;
};

}  // namespace sact
