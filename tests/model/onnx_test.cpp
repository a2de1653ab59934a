// The ONNX exporter: what it writes is read back by other code, and run.
#include "model/onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "engine/cpu/session.h"
#include "model/initial_weights.h"
#include "model/model_file.h"
#include "model/onnx_graph.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

using test::OnnxModel;
using test::OnnxNode;

ModelSpec tiny_spec(Stem stem, UnitKind unit) {
  ModelSpec spec;
  spec.stem = stem;
  spec.unit = unit;
  spec.units = {1, 2};
  spec.width = 5;
  spec.classes = 7;
  spec.norm_epsilon = 0.01;  // large enough for its loss to show
  return spec;
}

/// Fresh weights in which every norm and the head's bias do something, and no two alike.
std::vector<Weight> uneven_weights(const ModelSpec& spec, uint64_t seed) {
  std::vector<Weight> weights = initial_weights(spec, {.seed = seed});
  Random random(seed);
  for (Weight& weight : weights) {
    for (float& value : weight.values) {
      switch (weight.info.role) {
        case WeightRole::kNormScale:
        case WeightRole::kNormVariance:
          value = float(value * random.uniform(0.5, 1.5));
          break;
        case WeightRole::kNormShift:
        case WeightRole::kNormMean:
        case WeightRole::kLinearBias:
          value = float(value + random.uniform(-0.5, 0.5));
          break;
        default:
          break;
      }
    }
  }
  return weights;
}

class Onnx : public ::testing::Test {
 protected:
  ModelFile model_of(const ModelSpec& spec) {
    const auto path = directory_ / "model.safetensors";
    write_model(path, spec, uneven_weights(spec, 3));
    return ModelFile(path);
  }

  OnnxModel exported(const ModelFile& model, const OnnxOptions& options = {}) {
    const auto path = directory_ / "model.onnx";
    write_onnx(
        path, model.spec(), [&](const WeightInfo& weight) { return model.values(weight); },
        options);
    return test::read_onnx(path);
  }

  test::TemporaryDirectory directory_;
};

/// Scales that cut off a little of what layers read: some numbers become 255.
InputScales some_scales(const ModelSpec& spec) {
  InputScales scales;
  float scale = 0.004f;
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    if (layer.name == layer.reads_like) scales[layer.name] = scale += 0.0005f;
  }
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    scales[layer.name] = scales.at(layer.reads_like);
  }
  return scales;
}

class OnnxKinds : public Onnx, public ::testing::WithParamInterface<std::tuple<Stem, UnitKind>> {};
class OnnxPools : public Onnx, public ::testing::WithParamInterface<StemPool> {};

/// How far the graph is from the engine's plainest form on two images, of its logits. With scales
/// the engine runs in whole numbers.
double logit_error(const ModelFile& model, const OnnxModel& onnx, Size size,
                   const InputScales& scales = {}) {
  constexpr int kImages = 2;
  std::vector<float> planes(size_t(kImages * 3 * size.positions()));
  Random random(11);
  for (float& value : planes) value = float(random.normal());

  const engine::WeightSource weights = [&](const WeightInfo& info) { return model.values(info); };
  engine::CpuSession session(
      std::make_shared<engine::Plan>(model.spec(), weights, kernels::scalar_table(),
                                     scales.empty() ? Precision::kFloat32 : Precision::kInt8,
                                     engine::Multiplications::kDirect, scales),
      1);
  const std::vector<ImageResult> expected = session.run(planes, kImages, size);
  const test::Array found = test::interpret(
      onnx, {{kImages, 3, size.height, size.width}, {planes.begin(), planes.end()}});
  EXPECT_EQ(found.shape, (std::vector<int64_t>{kImages, model.spec().classes}));
  double largest = 0;
  for (size_t image = 0; image < kImages; ++image) {
    double error = 0, norm = 0;
    for (size_t c = 0; c < expected[image].logits.size(); ++c) {
      const double logit = expected[image].logits[c];
      error += std::pow(found.values.at(image * expected[image].logits.size() + c) - logit, 2);
      norm += logit * logit;
    }
    EXPECT_GT(norm, 0.01);
    largest = std::max(largest, std::sqrt(error / norm));
  }
  return largest;
}

TEST_P(OnnxKinds, GraphComputesWhatTheEngineComputes) {
  const auto [stem, unit] = GetParam();
  const ModelFile model = model_of(tiny_spec(stem, unit));
  EXPECT_LT(logit_error(model, exported(model), {33, 40}), 1e-4);
}

/// Sums are rounded in other places, so that here and there a number falls to the other side of a
/// half: one step of 255 in one place. A graph in floats is much further away.
TEST_P(OnnxKinds, WholeNumbersAreTheEngines) {
  const auto [stem, unit] = GetParam();
  const ModelFile model = model_of(tiny_spec(stem, unit));
  const InputScales scales = some_scales(model.spec());
  const OnnxModel whole = exported(model, {{}, {}, "", scales});
  EXPECT_LT(logit_error(model, whole, {33, 40}, scales), 1.5e-3);
  EXPECT_GT(logit_error(model, exported(model), {33, 40}, scales), 4e-3);
}

TEST_P(OnnxPools, PaddingIsTheEngines) {
  ModelSpec spec = tiny_spec(Stem::kImageNet, UnitKind::kBottleneckV1);
  spec.stem_pool = GetParam();
  spec.stride_on = StrideOn::k1x1;
  const ModelFile model = model_of(spec);
  // The stem halves: even and odd extents enter the pool.
  for (const Size size : {Size{64, 66}, {36, 69}}) {
    SCOPED_TRACE(size.width);
    EXPECT_LT(logit_error(model, exported(model), size), 1e-4);
  }
}
INSTANTIATE_TEST_SUITE_P(Paddings, OnnxPools,
                         ::testing::Values(StemPool::kSymmetric, StemPool::kSame, StemPool::kCeil,
                                           StemPool::kValid),
                         [](const auto& info) { return std::string(name_of(info.param)); });

void expect_made_once_and_used(const OnnxModel& onnx) {
  std::set<std::string> made, names, used;
  for (const auto& input : onnx.inputs) made.insert(input.name);
  for (const auto& weight : onnx.weights) {
    EXPECT_TRUE(made.insert(weight.name).second) << weight.name;
  }
  for (const OnnxNode& node : onnx.nodes) {
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
    for (const std::string& input : node.inputs) {
      EXPECT_TRUE(made.contains(input)) << node.name << " reads " << input;
      used.insert(input);
    }
    ASSERT_EQ(node.outputs.size(), 1u) << node.name;
    EXPECT_TRUE(made.insert(node.outputs[0]).second) << node.outputs[0];
  }
  ASSERT_EQ(onnx.outputs.size(), 1u);
  used.insert(onnx.outputs[0].name);
  EXPECT_EQ(made, used) << "nothing is left over";
}

TEST_P(OnnxKinds, EveryValueIsMadeOnceAndBeforeItIsUsed) {
  const auto [stem, unit] = GetParam();
  const ModelFile model = model_of(tiny_spec(stem, unit));
  expect_made_once_and_used(exported(model));
  expect_made_once_and_used(exported(model, {{}, {}, "", some_scales(model.spec())}));
}

TEST_F(Onnx, WholeNumbersHaveTypesAndScalesThatRuntimesTake) {
  ModelSpec spec = tiny_spec(Stem::kSmall, UnitKind::kBottleneckV1);
  std::vector<Weight> weights = uneven_weights(spec, 3);
  for (Weight& weight : weights) {  // a channel upside down, one without weights, a huge bias
    if (weight.info.name == "layer1.0.bn1.weight") weight.values = {-1, 1, 1e-20f, 1, 1};
    if (weight.info.name == "layer1.0.bn1.bias") weight.values[2] = 3;
    if (weight.info.name == "layer1.0.conv1.weight") std::fill_n(weight.values.begin() + 5, 5, 0);
  }
  const auto path = directory_ / "model.safetensors";
  write_model(path, spec, weights);
  const ModelFile model(path);
  const InputScales scales = some_scales(spec);
  const OnnxModel onnx = exported(model, {{}, {}, "", scales});
  std::map<std::string, test::OnnxWeight> found;
  for (const test::OnnxWeight& weight : onnx.weights) found[weight.name] = weight;
  const std::string layer = "layer1.0.conv1";
  EXPECT_EQ(found.at(layer + ".weight").type, 3);
  EXPECT_EQ(found.at(layer + ".weight_zero").type, 3);
  EXPECT_EQ(found.at(layer + ".input_zero").type, 2);
  EXPECT_EQ(found.at(layer + ".input_scale").values, std::vector<float>{scales.at(layer)});
  EXPECT_EQ(found.at(layer + ".bias").type, 6);
  const std::vector<float> scale = found.at(layer + ".weight_scale").values;
  for (size_t c = 0; c < scale.size(); ++c) {
    EXPECT_GT(scale[c], 0) << c;
    EXPECT_EQ(found.at(layer + ".bias_scale").values[c], scales.at(layer) * scale[c]) << c;
  }
  const double bias = double(found.at(layer + ".bias").values[2]) *
                      double(found.at(layer + ".bias_scale").values[2]);
  EXPECT_NEAR(bias, 3, 1e-4);
  EXPECT_LT(logit_error(model, onnx, {33, 40}, scales), 1.5e-3);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, OnnxKinds,
    ::testing::Combine(::testing::Values(Stem::kImageNet, Stem::kSmall),
                       ::testing::Values(UnitKind::kBottleneck, UnitKind::kBasic,
                                         UnitKind::kBottleneckV1, UnitKind::kBasicV1)));

TEST_F(Onnx, NodesOfABottleneckNetwork) {
  const OnnxModel onnx = exported(model_of(tiny_spec(Stem::kImageNet, UnitKind::kBottleneck)));
  std::map<std::string, int> operations;
  for (const OnnxNode& node : onnx.nodes) ++operations[node.operation];
  // Three units of three convolutions and norms, two shortcuts, the stem; a norm in the head.
  EXPECT_EQ(operations, (std::map<std::string, int>{{"Conv", 12},
                                                    {"BatchNormalization", 10},
                                                    {"Relu", 10},
                                                    {"MaxPool", 1},
                                                    {"Add", 3},
                                                    {"GlobalAveragePool", 1},
                                                    {"Flatten", 1},
                                                    {"Gemm", 1}}));
  const auto node = [&](const std::string& name) {
    for (const OnnxNode& candidate : onnx.nodes) {
      if (candidate.name == name) return candidate;
    }
    ADD_FAILURE() << "no node " << name;
    return OnnxNode{};
  };
  using Integers = std::vector<int64_t>;
  const OnnxNode shortcut = node("stages.1.blocks.0.downsample.conv");
  EXPECT_EQ(shortcut.inputs[0], "stages.1.blocks.0.norm1.relu") << "not the stream itself";
  EXPECT_EQ(shortcut.attributes.at("strides").integers, (Integers{2, 2}));
  EXPECT_EQ(node("stages.1.blocks.0.conv1").attributes.at("strides").integers, (Integers{1, 1}));
  EXPECT_EQ(node("stages.1.blocks.0.conv2").attributes.at("strides").integers, (Integers{2, 2}));
  EXPECT_EQ(node("stem.conv").attributes.at("pads").integers, (Integers{3, 3, 3, 3}));
  const test::OnnxAttribute epsilon = node("norm").attributes.at("epsilon");
  EXPECT_EQ(epsilon.real, 0.01f);
  EXPECT_EQ(epsilon.type, 1) << "a float";
  EXPECT_EQ(shortcut.attributes.at("pads").type, 7) << "integers";
  EXPECT_EQ(node("head.fc").attributes.at("transB").type, 2) << "an integer";
}

TEST_F(Onnx, WeightsAreThoseOfTheModel) {
  const ModelFile model = model_of(tiny_spec(Stem::kSmall, UnitKind::kBasic));
  const OnnxModel onnx = exported(model);
  const std::vector<WeightInfo> infos = weight_list(model.spec());
  ASSERT_EQ(onnx.weights.size(), infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    EXPECT_EQ(onnx.weights[i].name, infos[i].name);
    EXPECT_EQ(onnx.weights[i].type, 1) << "32-bit floats";
    EXPECT_EQ(onnx.weights[i].shape, infos[i].shape) << infos[i].name;
    EXPECT_EQ(onnx.weights[i].values, model.values(infos[i])) << infos[i].name;
  }
}

TEST_F(Onnx, ExtentsAreSymbolicUnlessGiven) {
  const ModelFile model = model_of(tiny_spec(Stem::kSmall, UnitKind::kBasic));
  using Extents = std::vector<std::string>;
  const auto expect = [&](const OnnxOptions& options, const Extents& input, const Extents& output) {
    const OnnxModel onnx = exported(model, options);
    ASSERT_EQ(onnx.inputs.size(), 1u);
    EXPECT_EQ(onnx.inputs[0].name, "image");
    EXPECT_EQ(onnx.inputs[0].type, 1);
    EXPECT_EQ(onnx.inputs[0].extents, input);
    ASSERT_EQ(onnx.outputs.size(), 1u);
    EXPECT_EQ(onnx.outputs[0].name, "logits");
    EXPECT_EQ(onnx.outputs[0].type, 1);
    EXPECT_EQ(onnx.outputs[0].extents, output);
  };
  expect({}, {"batch", "3", "height", "width"}, {"batch", "7"});
  expect({4, {}, ""}, {"4", "3", "height", "width"}, {"4", "7"});
  expect({{}, Size{64, 96}, ""}, {"batch", "3", "64", "96"}, {"batch", "7"});
  expect({300, Size{224, 32}, ""}, {"300", "3", "224", "32"}, {"300", "7"});
}

TEST_F(Onnx, FileSaysWhereItComesFromAndHowImagesArePrepared) {
  ModelSpec spec = tiny_spec(Stem::kSmall, UnitKind::kBasic);
  spec.input.mean = {0.1, 0.2, 0.3};
  spec.labels = {"a", "b", "c", "d", "e", "f", "ö"};
  const OnnxModel onnx = exported(model_of(spec), {{}, {}, "1.2.3"});
  EXPECT_EQ(onnx.ir_version, 8);
  EXPECT_EQ(onnx.operator_sets, (std::map<std::string, int64_t>{{"", kOnnxOpset}}));
  EXPECT_EQ(onnx.producer_name, "sact");
  EXPECT_EQ(onnx.producer_version, "1.2.3");
  const ModelSpec stored = spec_from_json(onnx.metadata.at("sact"), "metadata");
  EXPECT_EQ(to_json(stored), to_json(spec));
}

/// Writes a network whose weights must not be asked for; returns what is said against it.
std::string refused(const std::filesystem::path& path, const ModelSpec& spec) {
  const auto values = [](const WeightInfo& weight) {
    ADD_FAILURE() << "asked for " << weight.name;
    return std::vector<float>(size_t(weight.elements()));
  };
  const std::string message = test::error_of([&] { write_onnx(path, spec, values, {}); });
  EXPECT_FALSE(std::filesystem::exists(path));
  return message;
}

TEST_F(Onnx, AdaptiveNetworksAreRefused) {
  for (const Halting halting : {Halting::kAct, Halting::kSact}) {
    ModelSpec spec = tiny_spec(Stem::kSmall, UnitKind::kBasic);
    spec.halting = halting;
    const std::string message = refused(directory_ / "a.onnx", spec);
    EXPECT_NE(message.find("halting " + std::string(name_of(halting))), std::string::npos)
        << message;
    EXPECT_NE(message.find("sact baseline"), std::string::npos) << message;
  }
}

TEST_F(Onnx, FilesOverTwoGigabytesAreRefused) {
  ModelSpec spec;
  spec.width = 512;
  const std::string message = refused(directory_ / "large.onnx", spec);
  EXPECT_NE(message.find("10.2 GiB, but an ONNX file ends at 2 GiB"), std::string::npos) << message;
}

TEST_F(Onnx, AFailureLeavesTheOldFile) {
  const ModelFile model = model_of(tiny_spec(Stem::kSmall, UnitKind::kBasic));
  exported(model);
  const auto path = directory_ / "model.onnx";
  const std::vector<std::byte> before = read_file(path, 1 << 20);
  const auto failing = [&](const WeightInfo& weight) {
    if (weight.role == WeightRole::kLinear) throw Error("no more");
    return model.values(weight);
  };
  EXPECT_EQ(test::error_of([&] { write_onnx(path, model.spec(), failing, {}); }), "no more");
  EXPECT_EQ(read_file(path, 1 << 20), before);
}

}  // namespace
}  // namespace sact
