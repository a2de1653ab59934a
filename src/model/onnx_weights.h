// The weights of an ONNX file: those of the model, or whole numbers of 8 bits with their scales.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/onnx.h"

namespace sact {

/// ONNX's TensorProto.DataType.
enum class OnnxType { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6 };

/// An initializer of a GraphProto, whose bytes are made when they are written.
struct OnnxInitializer {
  std::string name;
  OnnxType type = OnnxType::kFloat;
  std::vector<int64_t> shape;  // empty: one number
  std::function<std::string()> bytes;

  uint64_t size() const;
  /// The message up to where its bytes begin.
  std::string start() const;
};

/// All initializers of a graph. `values` must outlive them. With input scales, convolutions of
/// units have whole numbers and the norms after them are gone.
std::vector<OnnxInitializer> onnx_initializers(const ModelSpec& spec, const InputScales& scales,
                                               const WeightValues& values);

}  // namespace sact
