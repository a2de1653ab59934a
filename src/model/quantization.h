// Whole numbers of 8 bits in a model: which layers have them, and what they stand for.
//
// What a layer reads is a whole number from 0 to 255 times its input scale; it is never below 0,
// because a ReLU came before. A weight is a whole number from -127 to 127 times the scale of its
// output channel. Sums of products are whole numbers too, and become floats at the end.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec.h"
#include "model/weights.h"

namespace sact {

inline constexpr int kLargestInput = 255, kLargestWeight = 127;

/// The scale of what each layer reads, by the layer's name.
using InputScales = std::map<std::string, float, std::less<>>;

/// Names of the tensors that hold a layer's scales.
std::string input_scale_name(std::string_view layer);
std::string weight_scale_name(std::string_view layer);

/// A layer that runs in whole numbers.
struct QuantizedLayer {
  std::string name;
  std::string reads_like;  // the layer whose input scale it has: a shortcut reads what conv1 does
};

/// The convolutions of all units. Stem and classifier cost little: they stay in floats, and so do
/// norms, the stream, halting scores and means. What is not finite in the stream would be read as
/// the largest whole number; only the stem can make such, and the engine looks at what it gives.
std::vector<QuantizedLayer> quantized_layers(const ModelSpec& spec);

/// Weights of a layer as whole numbers, [out, ...], with a scale for each output channel: its
/// largest weight becomes 127.
struct QuantizedWeights {
  std::vector<int8_t> values;
  std::vector<float> scales;
};
QuantizedWeights quantized(std::span<const float> weights, int64_t channels);
/// The other way round.
std::vector<float> dequantized(std::span<const int8_t> values, std::span<const float> scales);

}  // namespace sact
