// A plain network as an ONNX file, so that other runtimes can run it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/size.h"
#include "model/quantization.h"
#include "model/spec.h"
#include "model/weights.h"

namespace sact {

inline constexpr int kOnnxOpset = 17;

struct OnnxOptions {
  // Extents of the input that the file fixes. One that is not given stays symbolic: any will do.
  std::optional<int> batch;
  std::optional<Size> image;
  std::string producer_version;
  // For whole numbers of 8 bits: the scale of what each layer of quantized_layers() reads. None:
  // floats.
  InputScales input_scales = {};
};

/// Throws sact::Error for networks that `path` cannot hold: adaptive ones.
void expect_onnx_network(const std::filesystem::path& path, const ModelSpec& spec);

/// The values of a weight of the network, as float.
using WeightValues = std::function<std::vector<float>(const WeightInfo&)>;

/// Writes a graph from `image` [batch, 3, height, width], normalised, to `logits` [batch, classes].
/// Norms stay nodes of their own, for runtimes fold them where they can. With input scales, the
/// convolutions of units read whole numbers: what enters goes through QuantizeLinear and
/// DequantizeLinear, weights and biases through DequantizeLinear, with the norms after them folded
/// in ("QDQ"). Runtimes then multiply whole numbers where they can. The metadata key "sact"
/// holds the spec, and with it mean, std and labels. Weights are asked for one after another, so
/// that memory holds one of them. Throws sact::Error, before the first, for adaptive networks and
/// for files over the 2 GiB of a protobuf message.
void write_onnx(const std::filesystem::path& path, const ModelSpec& spec,
                const WeightValues& values, const OnnxOptions& options);

}  // namespace sact
