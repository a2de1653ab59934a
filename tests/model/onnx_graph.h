// An ONNX file read back, and a plain interpreter for the operations that residual networks need.
// Nothing here is shared with the exporter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sact::test {

struct OnnxAttribute {
  int64_t type = 0;
  float real = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<int64_t> integers;
};

struct OnnxNode {
  std::string operation, name;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxWeight {
  std::string name;
  int64_t type = 0;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// An input or output: its name, the number of its type, and its extents as text.
struct OnnxValue {
  std::string name;
  int64_t type = 0;
  std::vector<std::string> extents;
};

struct OnnxModel {
  int64_t ir_version = 0;
  std::string producer_name, producer_version;
  std::map<std::string, int64_t> operator_sets;
  std::map<std::string, std::string> metadata;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxWeight> weights;
  std::vector<OnnxValue> inputs, outputs;
};

OnnxModel read_onnx(const std::filesystem::path& path);

/// An array of numbers in the order of C.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// Runs the graph on its only input; returns its only output.
Array interpret(const OnnxModel& model, const Array& input);

}  // namespace sact::test
