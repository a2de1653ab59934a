// clang-format off
// The graph of a network, and the few messages of ONNX that it needs. Field numbers:
//
//   ModelProto     { 1: int64 ir_version; 2: string producer_name; 3: string producer_version;
//                    7: GraphProto graph; 8: repeated OperatorSet { 2: int64 version };
//                    14: repeated MetadataProperty { 1: string key; 2: string value } }
//   GraphProto     { 1: repeated NodeProto node; 2: string name;
//                    5: repeated TensorProto initializer;
//                    11: repeated ValueInfoProto input; 12: repeated ValueInfoProto output }
//   NodeProto      { 1: repeated string input; 2: repeated string output; 3: string name;
//                    4: string op_type; 5: repeated AttributeProto attribute }
//   AttributeProto { 1: string name; 2: float f; 3: int64 i; 8: repeated int64 ints;
//                    20: enum type }
//   TensorProto    { 1: repeated int64 dims; 2: enum data_type; 8: string name;
//                    9: bytes raw_data }
//   ValueInfoProto { 1: string name;
//                    2: TypeProto { 1: Tensor { 1: enum elem_type; 2: Shape {
//                    1: repeated Dimension { 1: int64 dim_value; 2: string dim_param } } } } }
// clang-format on
#include "model/onnx.h"

#include <initializer_list>
#include <map>
#include <variant>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "io/protobuf.h"
#include "io/safetensors.h"
#include "model/model_file.h"

namespace sact {
namespace {

using io::ProtobufMessage;

constexpr int kIrVersion = 8;  // the one that came with opset 17
constexpr int kFloat = 1;      // TensorProto.DataType
constexpr uint64_t kMaxBytes = INT32_MAX;

/// An operation under construction. It has one output, which bears its name unless told otherwise.
class Node {
 public:
  Node(std::string_view operation, const std::string& name,
       std::initializer_list<std::string_view> inputs, std::string_view output = {}) {
    for (std::string_view input : inputs) message_.bytes(1, input);
    message_.bytes(2, output.empty() ? name : output).bytes(3, name).bytes(4, operation);
  }

  Node& real(std::string_view name, double value) {
    constexpr int kTypeFloat = 1;
    ProtobufMessage attribute;
    message_.bytes(
        5, attribute.bytes(1, name).float32(2, float(value)).integer(20, kTypeFloat).encoded());
    return *this;
  }
  Node& integer(std::string_view name, int64_t value) {
    constexpr int kTypeInt = 2;
    ProtobufMessage attribute;
    message_.bytes(5, attribute.bytes(1, name).integer(3, value).integer(20, kTypeInt).encoded());
    return *this;
  }
  Node& integers(std::string_view name, std::initializer_list<int64_t> values) {
    constexpr int kTypeInts = 7;
    ProtobufMessage attribute;
    attribute.bytes(1, name);
    for (int64_t value : values) attribute.integer(8, value);
    message_.bytes(5, attribute.integer(20, kTypeInts).encoded());
    return *this;
  }
  /// A square window that reaches equally far to all sides of its centre.
  Node& window(int64_t side, int64_t stride) {
    const int64_t padding = side / 2;
    return integers("kernel_shape", {side, side})
        .integers("strides", {stride, stride})
        .integers("pads", {padding, padding, padding, padding});
  }

  const std::string& encoded() const { return message_.encoded(); }

 private:
  ProtobufMessage message_;
};

/// Adds the nodes of a network to a GraphProto in the order of evaluation. Each function takes the
/// name of what it reads and returns the name of what it makes.
class NetworkNodes {
 public:
  NetworkNodes(const ModelSpec& spec, const std::vector<WeightInfo>& weights,
               ProtobufMessage& graph)
      : spec_(spec), graph_(graph) {
    for (const WeightInfo& weight : weights) shapes_.emplace(weight.name, weight.shape);
  }

  void add_all() {
    std::string value = stem("image");
    for (int block = 0; block < spec_.blocks(); ++block) {
      for (int index = 0; index < spec_.units[size_t(block)]; ++index) {
        value = unit(block, index, value);
      }
    }
    head(value);
  }

 private:
  std::string stem(const std::string& input) {
    if (spec_.stem == Stem::kSmall) return convolution("stem.conv", input, 1);
    const std::string features = convolution("stem.conv", input, 2);
    return add("stem.pool", Node("MaxPool", "stem.pool", {features}).window(3, 2));
  }

  std::string unit(int block, int index, const std::string& input) {
    const std::string prefix = unit_prefix(block, index);
    const int stride = spec_.unit_stride(block, index);
    const bool bottleneck = spec_.unit == UnitKind::kBottleneck;
    const std::string preactivated = norm_relu(prefix + "norm1", input);
    const std::string shortcut =
        index == 0 ? convolution(prefix + "downsample.conv", preactivated, stride) : input;
    std::string value = convolution(prefix + "conv1", preactivated, bottleneck ? 1 : stride);
    value = norm_relu(prefix + "norm2", value);
    value = convolution(prefix + "conv2", value, bottleneck ? stride : 1);
    if (bottleneck) {
      value = norm_relu(prefix + "norm3", value);
      value = convolution(prefix + "conv3", value, 1);
    }
    const std::string name = prefix + "add";
    return add(name, Node("Add", name, {shortcut, value}));
  }

  void head(const std::string& input) {
    const std::string features = norm_relu("norm", input);
    add("head.pool", Node("GlobalAveragePool", "head.pool", {features}));
    add("head.flatten", Node("Flatten", "head.flatten", {"head.pool"}).integer("axis", 1));
    add("logits",
        Node("Gemm", "head.fc", {"head.flatten", "head.fc.weight", "head.fc.bias"}, "logits")
            .integer("transB", 1));
  }

  std::string convolution(const std::string& name, const std::string& input, int stride) {
    const std::string weight = name + ".weight";
    const int64_t side = shapes_.at(weight)[2];
    return add(name, Node("Conv", name, {input, weight}).window(side, stride));
  }

  std::string norm_relu(const std::string& name, const std::string& input) {
    add(name, Node("BatchNormalization", name,
                   {input, name + ".weight", name + ".bias", name + ".running_mean",
                    name + ".running_var"})
                  .real("epsilon", spec_.norm_epsilon));
    const std::string relu = name + ".relu";
    return add(relu, Node("Relu", relu, {name}));
  }

  std::string add(std::string output, const Node& node) {
    graph_.bytes(1, node.encoded());
    return output;
  }

  const ModelSpec& spec_;
  ProtobufMessage& graph_;
  std::map<std::string, io::Shape> shapes_;
};

using Dimension = std::variant<int64_t, std::string>;  // a number, or the name of any number

std::string value_info(std::string_view name, const std::vector<Dimension>& dimensions) {
  ProtobufMessage shape, tensor, type, info;
  for (const Dimension& extent : dimensions) {
    ProtobufMessage dimension;
    if (const auto* number = std::get_if<int64_t>(&extent)) dimension.integer(1, *number);
    if (const auto* symbol = std::get_if<std::string>(&extent)) dimension.bytes(2, *symbol);
    shape.bytes(1, dimension.encoded());
  }
  tensor.integer(1, kFloat).bytes(2, shape.encoded());
  type.bytes(1, tensor.encoded());
  return info.bytes(1, name).bytes(2, type.encoded()).encoded();
}

/// The graph without its weights, which may come last.
ProtobufMessage graph_without_weights(const ModelSpec& spec, const std::vector<WeightInfo>& weights,
                                      const OnnxOptions& options) {
  Dimension batch = "batch", height = "height", width = "width";
  if (options.batch) batch = *options.batch;
  if (options.image) {
    height = options.image->height;
    width = options.image->width;
  }
  ProtobufMessage graph;
  NetworkNodes(spec, weights, graph).add_all();
  graph.bytes(2, "sact");
  graph.bytes(11, value_info("image", {batch, 3, height, width}));
  graph.bytes(12, value_info("logits", {batch, spec.classes}));
  return graph;
}

/// An initializer of a GraphProto up to where the weight's values begin.
std::string initializer_start(const WeightInfo& weight) {
  const uint64_t value_bytes = uint64_t(weight.elements()) * sizeof(float);
  ProtobufMessage tensor, field;
  for (int64_t extent : weight.shape) tensor.integer(1, extent);
  tensor.integer(2, kFloat).bytes(8, weight.name).begin_bytes(9, value_bytes);
  field.begin_bytes(5, tensor.encoded().size() + value_bytes);
  return field.encoded() + tensor.encoded();
}

/// A ModelProto without its graph, which may come last.
ProtobufMessage model_without_graph(const ModelSpec& spec, const OnnxOptions& options) {
  ProtobufMessage model, operators, property;
  operators.integer(2, kOnnxOpset);
  property.bytes(1, kSpecKey).bytes(2, to_json(spec));
  model.integer(1, kIrVersion).bytes(2, "sact").bytes(3, options.producer_version);
  return model.bytes(8, operators.encoded()).bytes(14, property.encoded());
}

void check_expressible(const std::filesystem::path& path, const ModelSpec& spec) {
  validate(spec, path.string());
  if (spec.adaptive()) {
    fail(
        "{}: cannot hold a network with halting {}: ONNX has no operation that skips positions; "
        "export the plain network that it was trained from, or one from 'sact baseline'",
        path.string(), name_of(spec.halting));
  }
}

}  // namespace

void write_onnx(const std::filesystem::path& path, const ModelSpec& spec,
                const WeightValues& values, const OnnxOptions& options) {
  check_expressible(path, spec);
  const std::vector<WeightInfo> weights = weight_list(spec);
  const ProtobufMessage graph = graph_without_weights(spec, weights, options);
  uint64_t graph_bytes = graph.encoded().size();
  for (const WeightInfo& weight : weights) {
    graph_bytes += initializer_start(weight).size() + uint64_t(weight.elements()) * sizeof(float);
  }
  ProtobufMessage model = model_without_graph(spec, options);
  model.begin_bytes(7, graph_bytes);
  const uint64_t bytes = model.encoded().size() + graph_bytes;
  if (bytes > kMaxBytes) {
    fail("{}: would have {}, but an ONNX file ends at {}: export a smaller network", path.string(),
         format_bytes(bytes), format_bytes(kMaxBytes));
  }
  AtomicFile file(path);
  file.write(model.encoded());
  file.write(graph.encoded());
  for (const WeightInfo& weight : weights) {
    const std::vector<float> numbers = values(weight);
    SACT_ASSERT(int64_t(numbers.size()) == weight.elements());
    file.write(initializer_start(weight));
    file.write(io::stored_as(numbers, io::Dtype::kF32));
  }
  file.commit();
}

}  // namespace sact
