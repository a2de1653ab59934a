// Whole numbers of 8 bits in model files: what is stored, what is read back, and what is refused.
#include "model/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/initial_weights.h"
#include "model/model_file.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

ModelSpec small_spec(UnitKind unit = UnitKind::kBottleneck) {
  ModelSpec spec;
  spec.units = {2, 1};
  spec.width = 8;
  spec.classes = 4;
  spec.unit = unit;
  return spec;
}

InputScales some_scales(const ModelSpec& spec) {
  InputScales scales;
  float next = 0.01f;
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    if (layer.name == layer.reads_like) scales[layer.name] = next += 0.01f;
  }
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    scales[layer.name] = scales.at(layer.reads_like);
  }
  return scales;
}

TEST(Quantization, WeightsAreScaledByTheLargestOfTheirChannel) {
  const std::vector<float> weights = {1, -2, 0.5f, 0, 0, 0, 127, -0.4f, 0.6f};
  const QuantizedWeights whole = quantized(weights, 3);
  EXPECT_EQ(whole.scales, (std::vector<float>{2.0f / 127, 1, 1}));
  EXPECT_EQ(whole.values, (std::vector<int8_t>{64, -127, 32, 0, 0, 0, 127, 0, 1}));
  const std::vector<float> again = dequantized(whole.values, whole.scales);
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_LE(std::abs(again[i] - weights[i]), 0.501f * whole.scales[i / 3]);
  }
  EXPECT_EQ(quantized(again, 3).values, whole.values);
}

TEST(Quantization, AShortcutReadsWhatTheFirstConvolutionDoes) {
  for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBottleneckV1, UnitKind::kBasic}) {
    int shortcuts = 0;
    for (const QuantizedLayer& layer : quantized_layers(small_spec(unit))) {
      EXPECT_EQ(layer.name.find("stem"), std::string::npos);
      EXPECT_EQ(layer.name.find("fc"), std::string::npos);
      if (layer.name == layer.reads_like) continue;
      ++shortcuts;
      EXPECT_TRUE(layer.reads_like.ends_with(".conv1")) << layer.name;
    }
    EXPECT_EQ(shortcuts, 2);
  }
}

TEST(Quantization, AFileKeepsWholeNumbersAndScales) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = small_spec();
  const auto weights = initial_weights(spec, {.seed = 5});
  const InputScales scales = some_scales(spec);
  write_model(directory / "f", spec, weights);
  write_model(directory / "q", spec, weights, io::Dtype::kF32, {}, scales);
  EXPECT_LT(std::filesystem::file_size(directory / "q"),
            std::filesystem::file_size(directory / "f") * 2 / 3);
  const ModelFile file(directory / "q");
  EXPECT_TRUE(file.remarks().empty());
  EXPECT_EQ(file.input_scales(), scales);
  EXPECT_TRUE(ModelFile(directory / "f").input_scales().empty());
  EXPECT_EQ(file.find("stages.0.blocks.1.conv2.weight")->dtype, io::Dtype::kI8);
  EXPECT_EQ(file.find("stem.conv.weight")->dtype, io::Dtype::kF32);
  EXPECT_EQ(file.find("stages.0.blocks.0.downsample.conv.input_scale"), nullptr);
  for (const Weight& weight : weights) {
    const std::vector<float> values = file.values(weight.info);
    float largest = 0;
    for (const float value : weight.values) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], weight.values[i], largest / 253) << weight.info.name;
    }
  }
  // Written again, nothing changes.
  write_model(directory / "again", spec, read_weights(file, spec), io::Dtype::kF32, {},
              file.input_scales());
  const ModelFile again(directory / "again");
  for (const Weight& weight : weights) {
    const io::TensorView *one = file.find(weight.info.name), *other = again.find(weight.info.name);
    EXPECT_EQ(one->bytes.read(), other->bytes.read());
  }
}

/// A file in which one tensor is replaced, or left out where the view has no bytes.
std::string error_with(const std::string& tensor, const io::TensorView& view) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = small_spec();
  write_model(directory / "q", spec, initial_weights(spec, {.seed = 5}), io::Dtype::kF32, {},
              some_scales(spec));
  const io::SafetensorsFile file(directory / "q");
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, stored] : file.tensors()) {
    if (name != tensor) tensors.push_back({name, stored});
  }
  EXPECT_LT(tensors.size(), file.tensors().size());
  if (!view.bytes.empty()) tensors.push_back({tensor, view});
  io::write_safetensors(directory / "bad", tensors, file.metadata());
  return test::error_of([&] { ModelFile bad(directory / "bad"); });
}

TEST(Quantization, FilesWithoutTheirScalesAreRefusedByName) {
  for (const std::string tensor :
       {"stages.0.blocks.1.conv2.input_scale", "stages.1.blocks.0.conv3.weight_scale",
        "stages.1.blocks.0.downsample.conv.weight_scale"}) {
    const std::string message = error_with(tensor, {});
    EXPECT_NE(message.find("tensor '" + tensor + "' of shape"), std::string::npos) << message;
    EXPECT_NE(message.find("is missing"), std::string::npos) << message;
  }
}

TEST(Quantization, WrongScalesAreRefusedByName) {
  const std::string tensor = "stages.0.blocks.0.conv1.input_scale";
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const auto bytes = std::as_bytes(std::span(&scale, 1));
    const std::string message = error_with(tensor, {io::Dtype::kF32, {1}, bytes});
    EXPECT_NE(message.find("tensor '" + tensor + "' holds scales, which are above 0"),
              std::string::npos)
        << message;
  }
  const std::vector<float> two = {1, 2};
  const std::string shape =
      error_with(tensor, {io::Dtype::kF32, {2}, std::as_bytes(std::span(two))});
  EXPECT_NE(shape.find("tensor '" + tensor + "' must be F32 of the shape [1], found F32 of [2]"),
            std::string::npos)
      << shape;
  const std::vector<int8_t> whole(8, 3);
  const std::string type = error_with("stages.0.blocks.0.norm1.bias",
                                      {io::Dtype::kI8, {8}, std::as_bytes(std::span(whole))});
  EXPECT_NE(type.find("'stages.0.blocks.0.norm1.bias' must hold floating point numbers"),
            std::string::npos)
      << type;
}

}  // namespace
}  // namespace sact
