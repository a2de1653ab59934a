#include "model/onnx_weights.h"

#include <map>
#include <memory>

#include "base/error.h"
#include "io/protobuf.h"
#include "model/architecture.h"
#include "model/onnx_quantized.h"

namespace sact {
namespace {

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

OnnxInitializer float_weight(const WeightInfo& weight, const WeightValues& values) {
  return {weight.name, OnnxType::kFloat, weight.shape, [weight, &values] {
            const std::vector<float> numbers = values(weight);
            SACT_ASSERT(int64_t(numbers.size()) == weight.elements());
            return bytes_of(numbers);
          }};
}

/// All initializers of a graph in whole numbers: of the layers of units other ones, of stem, head
/// and the norms before units those of the model. Layers are worked out one after another.
std::vector<OnnxInitializer> whole_number_weights(const ModelSpec& spec, const InputScales& scales,
                                                  const WeightValues& values) {
  struct Present {
    OnnxQuantizer quantizer;
    std::string name;
    OnnxQuantized layer;
  };
  const auto present = std::make_shared<Present>(Present{{spec, values}, {}, {}});
  std::map<std::string, WeightInfo> left;  // that stay as they are
  for (const WeightInfo& weight : weight_list(spec)) left.emplace(weight.name, weight);
  std::vector<OnnxInitializer> all;
  const auto add_input = [&](const std::string& name) {
    const float scale = scales.at(name);
    all.push_back(
        {input_scale_name(name), OnnxType::kFloat, {}, [=] { return bytes_of<float>({scale}); }});
    all.push_back(
        {name + ".input_zero", OnnxType::kUint8, {}, [] { return std::string(1, '\0'); }});
  };
  const auto add_layer = [&](const ConvStep& step, const std::string& reads_like) {
    const auto made = [present, step, scale = scales.at(reads_like)]() -> const OnnxQuantized& {
      if (present->name != step.name) present->layer = present->quantizer.layer(step, scale);
      present->name = step.name;
      return present->layer;
    };
    const std::string& name = step.name;
    const std::vector<int64_t> channels = {step.out};
    all.push_back({name + ".weight", OnnxType::kInt8, left.at(name + ".weight").shape,
                   [=] { return bytes_of(made().weights); }});
    all.push_back({weight_scale_name(name), OnnxType::kFloat, channels,
                   [=] { return bytes_of(made().scales); }});
    all.push_back({name + ".weight_zero", OnnxType::kInt8, channels,
                   [out = step.out] { return std::string(size_t(out), '\0'); }});
    all.push_back(
        {name + ".bias", OnnxType::kInt32, channels, [=] { return bytes_of(made().bias); }});
    all.push_back({name + ".bias_scale", OnnxType::kFloat, channels,
                   [=] { return bytes_of(made().bias_scales); }});
    left.erase(name + ".weight");
    if (!step.norm) return;
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      left.erase(step.norm->name + part);
    }
  };
  for (const auto& block : Architecture(spec).blocks) {
    for (const UnitSteps& unit : block) {
      const std::string& first = unit.convolutions.front().name;
      if (unit.shortcut) add_layer(*unit.shortcut, first);
      for (const ConvStep& step : unit.convolutions) {
        add_input(step.name);
        add_layer(step, step.name);
      }
    }
  }
  for (const auto& [name, weight] : left) all.push_back(float_weight(weight, values));
  return all;
}

}  // namespace

uint64_t OnnxInitializer::size() const {
  uint64_t elements = 1;
  for (const int64_t extent : shape) elements *= uint64_t(extent);
  return elements * (type == OnnxType::kInt8 || type == OnnxType::kUint8 ? 1 : 4);
}

std::string OnnxInitializer::start() const {
  io::ProtobufMessage tensor, field;
  for (const int64_t extent : shape) tensor.integer(1, extent);
  tensor.integer(2, int(type)).bytes(8, name).begin_bytes(9, size());
  field.begin_bytes(5, tensor.encoded().size() + size());
  return field.encoded() + tensor.encoded();
}

std::vector<OnnxInitializer> onnx_initializers(const ModelSpec& spec, const InputScales& scales,
                                               const WeightValues& values) {
  if (!scales.empty()) return whole_number_weights(spec, scales, values);
  std::vector<OnnxInitializer> all;
  for (const WeightInfo& weight : weight_list(spec)) all.push_back(float_weight(weight, values));
  return all;
}

}  // namespace sact
