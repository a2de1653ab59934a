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
//   AttributeProto { 1: string name; 2: float f; 3: int64 i; 4: bytes s;
//                    8: repeated int64 ints;
//                    20: enum type }
//   TensorProto    { 1: repeated int64 dims; 2: enum data_type; 8: string name;
//                    9: bytes raw_data }
//   ValueInfoProto { 1: string name;
//                    2: TypeProto { 1: Tensor { 1: enum elem_type; 2: Shape {
//                    1: repeated Dimension { 1: int64 dim_value; 2: string dim_param } } } } }
// clang-format on
#include "model/onnx.h"

#include <initializer_list>
#include <variant>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "io/protobuf.h"
#include "model/architecture.h"
#include "model/model_file.h"
#include "model/onnx_weights.h"

namespace sact {
namespace {

using io::ProtobufMessage;

constexpr int kIrVersion = 8;  // the one that came with opset 17
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
  Node& text(std::string_view name, std::string_view value) {
    constexpr int kTypeString = 3;
    ProtobufMessage attribute;
    message_.bytes(5, attribute.bytes(1, name).bytes(4, value).integer(20, kTypeString).encoded());
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
    return unpadded(side, stride).integers("pads", {padding, padding, padding, padding});
  }
  /// A square window that begins at the image's corner.
  Node& unpadded(int64_t side, int64_t stride) {
    return integers("kernel_shape", {side, side}).integers("strides", {stride, stride});
  }

  const std::string& encoded() const { return message_.encoded(); }

 private:
  ProtobufMessage message_;
};

/// Adds the nodes of a network to a GraphProto in the order of evaluation. Each function takes the
/// name of what it reads and returns the name of what it makes.
class NetworkNodes {
 public:
  NetworkNodes(const ModelSpec& spec, bool whole_numbers, ProtobufMessage& graph)
      : architecture_(spec),
        norm_epsilon_(spec.norm_epsilon),
        whole_numbers_(whole_numbers),
        graph_(graph) {}

  void add_all() {
    std::string value = stem(*architecture_.stem, "image");
    for (const auto& block : architecture_.blocks) {
      for (const UnitSteps& steps : block) value = unit(steps, value);
    }
    head(*architecture_.head, value);
  }

 private:
  std::string stem(const StemSteps& steps, const std::string& input) {
    const std::string features = convolution(steps.convolution, input);
    return steps.pool ? pool(*steps.pool, features) : features;
  }

  std::string pool(const PoolStep& step, const std::string& input) {
    Node node("MaxPool", step.name, {input});
    switch (step.padding) {
      case StemPool::kSymmetric:
        node.window(step.kKernel, step.kStride);
        break;
      case StemPool::kSame:
        node.unpadded(step.kKernel, step.kStride).text("auto_pad", "SAME_UPPER");
        break;
      case StemPool::kCeil:
        node.unpadded(step.kKernel, step.kStride).integer("ceil_mode", 1);
        break;
      case StemPool::kValid:
        node.unpadded(step.kKernel, step.kStride);
        break;
    }
    return add(step.name, node);
  }

  std::string unit(const UnitSteps& steps, const std::string& input) {
    const std::string entry = steps.preactivation ? relu(norm(*steps.preactivation, input)) : input;
    const std::string& first = steps.convolutions.front().name;
    std::string value = operand(first, entry);
    const std::string shortcut = steps.shortcut ? unit_layer(*steps.shortcut, value) : input;
    for (const ConvStep& step : steps.convolutions) {
      if (step.name != first) value = operand(step.name, value);
      value = unit_layer(step, value);
    }
    const std::string name = steps.name + ".add";
    const std::string sum = add(name, Node("Add", name, {shortcut, value}));
    return steps.relu ? relu(sum) : sum;
  }

  void head(const HeadSteps& steps, const std::string& input) {
    const std::string features = steps.norm ? relu(norm(*steps.norm, input)) : input;
    const std::string& linear = steps.linear.name;
    add("head.pool", Node("GlobalAveragePool", "head.pool", {features}));
    add("head.flatten", Node("Flatten", "head.flatten", {"head.pool"}).integer("axis", 1));
    add("logits",
        Node("Gemm", linear, {"head.flatten", linear + ".weight", linear + ".bias"}, "logits")
            .integer("transB", 1));
  }

  /// What a layer reads, rounded to its whole numbers.
  std::string operand(const std::string& layer, const std::string& input) {
    if (!whole_numbers_) return input;
    const std::string scale = input_scale_name(layer), zero = layer + ".input_zero";
    const std::string whole = layer + ".input_quantized", name = layer + ".input";
    add(whole, Node("QuantizeLinear", whole, {input, scale, zero}));
    return add(name, Node("DequantizeLinear", name, {whole, scale, zero}));
  }

  /// Whole numbers of every output channel, as what they stand for.
  std::string dequantized(const std::string& name, std::initializer_list<std::string_view> inputs) {
    return add(name, Node("DequantizeLinear", name, inputs).integer("axis", 0));
  }

  /// A convolution of a unit, with what follows it.
  std::string unit_layer(const ConvStep& step, const std::string& input) {
    if (!whole_numbers_) return convolution(step, input);
    const std::string& name = step.name;
    const std::string weights =
        dequantized(name + ".weight_dequantized",
                    {name + ".weight", weight_scale_name(name), name + ".weight_zero"});
    const std::string bias =
        dequantized(name + ".bias_dequantized", {name + ".bias", name + ".bias_scale"});
    const std::string value =
        add(name, Node("Conv", name, {input, weights, bias}).window(step.kernel, step.stride));
    return step.relu ? relu(value) : value;
  }

  /// With what follows it.
  std::string convolution(const ConvStep& step, const std::string& input) {
    std::string value = add(
        step.name,
        Node("Conv", step.name, {input, step.name + ".weight"}).window(step.kernel, step.stride));
    if (step.norm) value = norm(*step.norm, value);
    return step.relu ? relu(value) : value;
  }

  std::string norm(const NormStep& step, const std::string& input) {
    const std::string& name = step.name;
    return add(name, Node("BatchNormalization", name,
                          {input, name + ".weight", name + ".bias", name + ".running_mean",
                           name + ".running_var"})
                         .real("epsilon", norm_epsilon_));
  }

  std::string relu(const std::string& input) {
    const std::string name = input + ".relu";
    return add(name, Node("Relu", name, {input}));
  }

  std::string add(std::string output, const Node& node) {
    graph_.bytes(1, node.encoded());
    return output;
  }

  const Architecture architecture_;
  const double norm_epsilon_;
  const bool whole_numbers_;
  ProtobufMessage& graph_;
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
  tensor.integer(1, int(OnnxType::kFloat)).bytes(2, shape.encoded());
  type.bytes(1, tensor.encoded());
  return info.bytes(1, name).bytes(2, type.encoded()).encoded();
}

/// The graph without its weights, which may come last.
ProtobufMessage graph_without_weights(const ModelSpec& spec, const OnnxOptions& options) {
  Dimension batch = "batch", height = "height", width = "width";
  if (options.batch) batch = *options.batch;
  if (options.image) {
    height = options.image->height;
    width = options.image->width;
  }
  ProtobufMessage graph;
  NetworkNodes(spec, !options.input_scales.empty(), graph).add_all();
  graph.bytes(2, "sact");
  graph.bytes(11, value_info("image", {batch, 3, height, width}));
  graph.bytes(12, value_info("logits", {batch, spec.classes}));
  return graph;
}

/// A ModelProto without its graph, which may come last.
ProtobufMessage model_without_graph(const ModelSpec& spec, const OnnxOptions& options) {
  ProtobufMessage model, operators, property;
  operators.integer(2, kOnnxOpset);
  property.bytes(1, kSpecKey).bytes(2, to_json(spec));
  model.integer(1, kIrVersion).bytes(2, "sact").bytes(3, options.producer_version);
  return model.bytes(8, operators.encoded()).bytes(14, property.encoded());
}

}  // namespace

void expect_onnx_network(const std::filesystem::path& path, const ModelSpec& spec) {
  validate(spec, path.string());
  if (spec.adaptive()) {
    fail(
        "{}: cannot hold a network with halting {}: ONNX has no operation that skips positions; "
        "export the plain network that it was trained from, or one from 'sact baseline'",
        path.string(), name_of(spec.halting));
  }
}

void write_onnx(const std::filesystem::path& path, const ModelSpec& spec,
                const WeightValues& values, const OnnxOptions& options) {
  expect_onnx_network(path, spec);
  const std::vector<OnnxInitializer> weights =
      onnx_initializers(spec, options.input_scales, values);
  const ProtobufMessage graph = graph_without_weights(spec, options);
  uint64_t graph_bytes = graph.encoded().size();
  for (const OnnxInitializer& weight : weights)
    graph_bytes += weight.start().size() + weight.size();
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
  for (const OnnxInitializer& weight : weights) {
    file.write(weight.start());
    file.write(weight.bytes());
  }
  file.commit();
}

}  // namespace sact
