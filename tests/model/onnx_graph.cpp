#include "model/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "support/protobuf.h"

namespace sact::test {
namespace {

/// The last value of a field, as readers of protobuf take it; the default when there is none.
std::string text(const Fields& fields, int field) {
  const auto found = fields.find(field);
  return found == fields.end() ? std::string() : found->second.back();
}

int64_t integer(const Fields& fields, int field) {
  const auto found = fields.find(field);
  return found == fields.end() ? 0 : number<int64_t>(found->second.back());
}

std::vector<std::string> texts(const Fields& fields, int field) {
  const auto found = fields.find(field);
  return found == fields.end() ? std::vector<std::string>() : found->second;
}

std::vector<int64_t> integers(const Fields& fields, int field) {
  std::vector<int64_t> values;
  for (const std::string& value : texts(fields, field)) values.push_back(number<int64_t>(value));
  return values;
}

OnnxNode read_node(const Fields& fields) {
  OnnxNode node{text(fields, 4), text(fields, 3), texts(fields, 1), texts(fields, 2), {}};
  for (const std::string& encoded : texts(fields, 5)) {
    const Fields attribute = parse_message(encoded);
    OnnxAttribute& read = node.attributes[text(attribute, 1)];
    read.type = integer(attribute, 20);
    if (attribute.contains(2)) read.real = number<float>(text(attribute, 2));
    read.integer = integer(attribute, 3);
    if (attribute.contains(4)) read.text = text(attribute, 4);
    read.integers = integers(attribute, 8);
  }
  return node;
}

template <typename Number>
std::vector<float> numbers(const std::string& bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
  return {values.begin(), values.end()};
}

OnnxWeight read_weight(const Fields& fields) {
  const std::string bytes = text(fields, 9);
  OnnxWeight weight{text(fields, 8), integer(fields, 2), integers(fields, 1), {}};
  switch (weight.type) {
    case 1:
      weight.values = numbers<float>(bytes);
      break;
    case 2:
      weight.values = numbers<uint8_t>(bytes);
      break;
    case 3:
      weight.values = numbers<int8_t>(bytes);
      break;
    case 6:
      weight.values = numbers<int32_t>(bytes);
      break;
    default:
      ADD_FAILURE() << weight.name << ": type " << weight.type;
  }
  return weight;
}

OnnxValue read_value(const Fields& fields) {
  const Fields tensor = parse_message(text(parse_message(text(fields, 2)), 1));
  OnnxValue value{text(fields, 1), integer(tensor, 1), {}};
  for (const std::string& encoded : texts(parse_message(text(tensor, 2)), 1)) {
    const Fields extent = parse_message(encoded);
    value.extents.push_back(extent.contains(2) ? text(extent, 2)
                                               : std::to_string(integer(extent, 1)));
  }
  return value;
}

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Array filled(std::vector<int64_t> shape, double value) {
  const int64_t count = elements(shape);
  return {std::move(shape), std::vector<double>(size_t(count), value)};
}

double& at(Array& array, int64_t n, int64_t c, int64_t y, int64_t x) {
  const auto& s = array.shape;
  return array.values[size_t(((n * s[1] + c) * s[2] + y) * s[3] + x)];
}
double at(const Array& array, int64_t n, int64_t c, int64_t y, int64_t x) {
  return at(const_cast<Array&>(array), n, c, y, x);
}

/// The window of a convolution or a pool.
struct Window {
  std::vector<int64_t> kernel, strides, pads = {0, 0, 0, 0};
  bool ceil = false;

  /// `auto_pad` and `ceil_mode` by the words of ONNX's description of MaxPool.
  Window(const OnnxNode& node, const Array& input)
      : kernel(node.attributes.at("kernel_shape").integers),
        strides(node.attributes.at("strides").integers) {
    const auto given = [&](const char* name) { return node.attributes.contains(name); };
    if (given("pads")) pads = node.attributes.at("pads").integers;
    if (given("ceil_mode")) ceil = node.attributes.at("ceil_mode").integer == 1;
    if (!given("auto_pad")) return;
    EXPECT_EQ(node.attributes.at("auto_pad").text, "SAME_UPPER");
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t in = input.shape[axis + 2], out = (in + strides[axis] - 1) / strides[axis];
      const int64_t all = std::max<int64_t>((out - 1) * strides[axis] + kernel[axis] - in, 0);
      pads[axis] = all / 2;
      pads[axis + 2] = all - all / 2;  // the odd one at the end
    }
  }

  int64_t extent(int64_t input, size_t axis) const {
    const int64_t free = input + pads[axis] + pads[axis + 2] - kernel[axis];
    return (free + (ceil ? strides[axis] - 1 : 0)) / strides[axis] + 1;
  }

  /// Calls `use(input_y, input_x, kernel_y, kernel_x)` for every tap that an output position has
  /// inside of the input.
  template <typename Use>
  void taps(const Array& input, int64_t y, int64_t x, Use&& use) const {
    for (int64_t ky = 0; ky < kernel[0]; ++ky) {
      for (int64_t kx = 0; kx < kernel[1]; ++kx) {
        const int64_t from_y = y * strides[0] + ky - pads[0];
        const int64_t from_x = x * strides[1] + kx - pads[1];
        const bool inside =
            from_y >= 0 && from_y < input.shape[2] && from_x >= 0 && from_x < input.shape[3];
        if (inside) use(from_y, from_x, ky, kx);
      }
    }
  }
};

/// Calls `use(n, c, y, x)` for every element.
template <typename Use>
void each_element(const std::vector<int64_t>& shape, Use&& use) {
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < shape[1]; ++c) {
      for (int64_t y = 0; y < shape[2]; ++y) {
        for (int64_t x = 0; x < shape[3]; ++x) use(n, c, y, x);
      }
    }
  }
}

Array convolution(const OnnxNode& node, const Array& input, const Array& weight,
                  const Array* bias) {
  const Window window(node, input);
  EXPECT_EQ(weight.shape[1], input.shape[1]) << node.name;
  EXPECT_EQ(weight.shape[2], window.kernel[0]) << node.name;
  EXPECT_EQ(weight.shape[3], window.kernel[1]) << node.name;
  Array output = filled({input.shape[0], weight.shape[0], window.extent(input.shape[2], 0),
                         window.extent(input.shape[3], 1)},
                        0);
  each_element(output.shape, [&](int64_t n, int64_t o, int64_t y, int64_t x) {
    double sum = bias ? bias->values.at(size_t(o)) : 0;
    window.taps(input, y, x, [&](int64_t from_y, int64_t from_x, int64_t ky, int64_t kx) {
      for (int64_t c = 0; c < input.shape[1]; ++c) {
        sum += at(input, n, c, from_y, from_x) * at(weight, o, c, ky, kx);
      }
    });
    at(output, n, o, y, x) = sum;
  });
  return output;
}

Array max_pool(const OnnxNode& node, const Array& input) {
  const Window window(node, input);
  Array output = filled({input.shape[0], input.shape[1], window.extent(input.shape[2], 0),
                         window.extent(input.shape[3], 1)},
                        -std::numeric_limits<double>::infinity());
  each_element(output.shape, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
    double& largest = at(output, n, c, y, x);
    window.taps(input, y, x, [&](int64_t from_y, int64_t from_x, int64_t, int64_t) {
      largest = std::max(largest, at(input, n, c, from_y, from_x));
    });
  });
  return output;
}

Array normalise(const OnnxNode& node, const std::vector<const Array*>& inputs) {
  const double epsilon = node.attributes.at("epsilon").real;
  Array output = *inputs[0];
  each_element(output.shape, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
    const auto of_channel = [&](size_t input) { return inputs[input]->values.at(size_t(c)); };
    double& value = at(output, n, c, y, x);
    value = (value - of_channel(3)) / std::sqrt(of_channel(4) + epsilon) * of_channel(1) +
            of_channel(2);
  });
  return output;
}

Array average(const Array& input) {
  Array output = filled({input.shape[0], input.shape[1], 1, 1}, 0);
  each_element(input.shape, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
    at(output, n, c, 0, 0) += at(input, n, c, y, x) / double(input.shape[2] * input.shape[3]);
  });
  return output;
}

/// A product with the transposed second matrix, plus a row.
Array linear(const OnnxNode& node, const Array& input, const Array& weight, const Array& bias) {
  EXPECT_EQ(node.attributes.at("transB").integer, 1);
  EXPECT_EQ(weight.shape.at(1), input.shape.at(1));
  Array output = filled({input.shape[0], weight.shape[0]}, 0);
  for (int64_t n = 0; n < input.shape[0]; ++n) {
    for (int64_t o = 0; o < weight.shape[0]; ++o) {
      double sum = bias.values[size_t(o)];
      for (int64_t i = 0; i < input.shape[1]; ++i) {
        sum += input.values[size_t(n * input.shape[1] + i)] *
               weight.values[size_t(o * input.shape[1] + i)];
      }
      output.values[size_t(n * weight.shape[0] + o)] = sum;
    }
  }
  return output;
}

/// To whole numbers from 0 to 255, ties to the even one, as ONNX says.
Array quantize(const Array& input, const Array& scale, const Array& zero) {
  Array output = input;
  for (double& value : output.values) {
    const double whole = std::nearbyint(double(float(value) / float(scale.values.at(0))));
    value = std::clamp(whole + zero.values.at(0), 0.0, 255.0);
  }
  return output;
}

/// With one scale, or one for every element of the first axis.
Array dequantize(const OnnxNode& node, const Array& input, const Array& scale, const Array* zero) {
  const bool whole = scale.shape.empty();
  if (!whole) {
    EXPECT_EQ(node.attributes.at("axis").integer, 0) << node.name;
    EXPECT_EQ(scale.shape, std::vector<int64_t>{input.shape.at(0)}) << node.name;
  }
  if (zero) {
    EXPECT_EQ(zero->shape, scale.shape) << node.name;
  }
  Array output = input;
  const size_t each = whole ? output.values.size() : output.values.size() / scale.values.size();
  for (size_t i = 0; i < output.values.size(); ++i) {
    const size_t place = i / each;
    output.values[i] =
        (input.values[i] - (zero ? zero->values.at(place) : 0)) * scale.values.at(place);
  }
  return output;
}

Array run_node(const OnnxNode& node, const std::vector<const Array*>& inputs) {
  const Array& first = *inputs.at(0);
  Array output = first;
  const Array* third = inputs.size() > 2 ? inputs[2] : nullptr;
  if (node.operation == "Conv") return convolution(node, first, *inputs.at(1), third);
  if (node.operation == "QuantizeLinear") return quantize(first, *inputs.at(1), *inputs.at(2));
  if (node.operation == "DequantizeLinear") return dequantize(node, first, *inputs.at(1), third);
  if (node.operation == "BatchNormalization") return normalise(node, inputs);
  if (node.operation == "MaxPool") return max_pool(node, first);
  if (node.operation == "GlobalAveragePool") return average(first);
  if (node.operation == "Gemm") return linear(node, first, *inputs.at(1), *inputs.at(2));
  if (node.operation == "Relu") {
    for (double& value : output.values) value = std::max(value, 0.0);
  } else if (node.operation == "Add") {
    EXPECT_EQ(first.shape, inputs.at(1)->shape) << node.name;
    for (size_t i = 0; i < output.values.size(); ++i) output.values[i] += inputs[1]->values.at(i);
  } else if (node.operation == "Flatten") {
    output.shape = {first.shape[0], elements(first.shape) / first.shape[0]};
  } else {
    ADD_FAILURE() << node.name << ": operation " << node.operation;
  }
  return output;
}

}  // namespace

OnnxModel read_onnx(const std::filesystem::path& path) {
  const std::vector<std::byte> file = read_file(path, 1 << 28);
  const Fields fields = parse_message({reinterpret_cast<const char*>(file.data()), file.size()});
  OnnxModel model;
  model.ir_version = integer(fields, 1);
  model.producer_name = text(fields, 2);
  model.producer_version = text(fields, 3);
  for (const std::string& encoded : texts(fields, 8)) {
    const Fields set = parse_message(encoded);
    model.operator_sets[text(set, 1)] = integer(set, 2);
  }
  for (const std::string& encoded : texts(fields, 14)) {
    const Fields property = parse_message(encoded);
    model.metadata[text(property, 1)] = text(property, 2);
  }
  const Fields graph = parse_message(text(fields, 7));
  for (const auto& node : texts(graph, 1)) model.nodes.push_back(read_node(parse_message(node)));
  for (const auto& weight : texts(graph, 5)) {
    model.weights.push_back(read_weight(parse_message(weight)));
  }
  for (const auto& value : texts(graph, 11)) {
    model.inputs.push_back(read_value(parse_message(value)));
  }
  for (const auto& value : texts(graph, 12)) {
    model.outputs.push_back(read_value(parse_message(value)));
  }
  return model;
}

Array interpret(const OnnxModel& model, const Array& input) {
  std::map<std::string, Array> values = {{model.inputs.at(0).name, input}};
  for (const OnnxWeight& weight : model.weights) {
    values[weight.name] = {weight.shape, {weight.values.begin(), weight.values.end()}};
  }
  for (const OnnxNode& node : model.nodes) {
    std::vector<const Array*> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(&values.at(name));
    values[node.outputs.at(0)] = run_node(node, inputs);
  }
  return values.at(model.outputs.at(0).name);
}

}  // namespace sact::test
