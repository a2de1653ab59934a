// Importing PyTorch networks from safetensors: what comes back, what is found, what is refused.
#include <gtest/gtest.h>

#include "import/import.h"
#include "import/running.h"
#include "import/samples.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

using importing::import_network;
using importing::ImportedNetwork;
using importing::ImportOptions;
using test::finding;

constexpr UnitKind kKinds[] = {UnitKind::kBottleneckV1, UnitKind::kBasicV1, UnitKind::kBottleneck};

class TorchNames : public ::testing::Test {
 protected:
  ImportedNetwork imported(const test::NamedList& state, const ImportOptions& options = {}) {
    test::write_tensors(directory_ / "n.safetensors", state);
    return import_network(directory_ / "n.safetensors", options);
  }
  std::string refusal(const test::NamedList& state, const ImportOptions& options = {}) {
    return test::error_of([&] { imported(state, options); });
  }
  static void expect_mentions(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryDirectory directory_;
  ModelSpec v1_ = test::plain_spec(UnitKind::kBottleneckV1);
};

TEST_F(TorchNames, EveryKindComesBackWithItsWeights) {
  for (const UnitKind unit : kKinds) {
    const ModelSpec spec = test::plain_spec(unit, {2, 1, 3});
    const auto weights = test::random_weights(spec, 1);
    const ImportedNetwork network = imported(test::torch_state(spec));
    EXPECT_EQ(network.spec.units, spec.units);
    EXPECT_EQ(network.spec.unit, unit);
    EXPECT_EQ(network.spec.width, spec.width);
    EXPECT_EQ(network.spec.classes, spec.classes);
    EXPECT_EQ(network.spec.stem, Stem::kImageNet);
    ASSERT_EQ(network.weights.size(), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(network.weights[i].info.name, weights[i].info.name);
      EXPECT_EQ(network.weights[i].values, weights[i].values) << weights[i].info.name;
    }
    EXPECT_EQ(test::logits_of(network.spec, network.weights), test::logits_of(spec, weights));
  }
}

TEST_F(TorchNames, InputIsTheUsualOneOfTheLibraryAndIsSaidToBe) {
  const ImportedNetwork v1 = imported(test::torch_state(v1_));
  EXPECT_EQ(v1.library, "torchvision or timm resnet");
  EXPECT_DOUBLE_EQ(v1.spec.input.mean[0], 0.485);
  EXPECT_EQ(finding(v1, "stride"), "on the 3x3 convolution (as torchvision and timm have it)");
  const ImportedNetwork v2 = imported(test::torch_state(test::plain_spec(UnitKind::kBottleneck)));
  EXPECT_EQ(v2.library, "timm resnetv2");
  EXPECT_DOUBLE_EQ(v2.spec.input.mean[0], 0.5);
  EXPECT_DOUBLE_EQ(v2.spec.input.std[2], 0.5);
}

TEST_F(TorchNames, TheConfigOfTimmTellsTheInput) {
  test::write_bytes(
      directory_ / "config.json",
      R"({"architecture": "resnetv2_50", "pretrained_cfg": {"input_size": [3, 160, 160],
                        "crop_pct": 0.95, "mean": [0.1, 0.2, 0.3], "std": [0.4, 0.5, 0.6]}})");
  const ImportedNetwork network =
      imported(test::torch_state(test::plain_spec(UnitKind::kBottleneck)));
  EXPECT_EQ(network.spec.input.size, 160);
  EXPECT_DOUBLE_EQ(network.spec.input.crop, 0.95);
  EXPECT_DOUBLE_EQ(network.spec.input.mean[1], 0.2);
  EXPECT_DOUBLE_EQ(network.spec.input.std[2], 0.6);
  EXPECT_EQ(finding(network, "crop"), "0.95 (config.json)");

  test::write_bytes(directory_ / "config.json",
                    R"({"architecture": "resnetblur50", "pretrained_cfg": {}})");
  expect_mentions(refusal(test::torch_state(v1_)), "resnetblur50");
  test::write_bytes(directory_ / "config.json", R"({"architectures": ["ResNet"]})");
  EXPECT_EQ(imported(test::torch_state(v1_)).spec.input.size, 224) << "not a config of timm";
  test::write_bytes(directory_ / "config.json",
                    R"({"pretrained_cfg": {"input_size": [3, 4294967520, 4294967520]}})");
  expect_mentions(refusal(test::torch_state(v1_)), "'input_size' has 4294967520");
}

TEST_F(TorchNames, OptionsWinOverWhatIsUsual) {
  ImportOptions options;
  options.stride_on = StrideOn::k1x1;
  options.pool = StemPool::kCeil;
  options.norm_epsilon = 1e-3;
  options.size = 192;
  options.crop = 0.9;
  options.mean = {0.1, 0.2, 0.3};
  options.std = {0.4, 0.5, 0.6};
  const ImportedNetwork network = imported(test::torch_state(v1_), options);
  EXPECT_EQ(network.spec.stride_on, StrideOn::k1x1);
  EXPECT_EQ(network.spec.stem_pool, StemPool::kCeil);
  EXPECT_EQ(network.spec.norm_epsilon, 1e-3);
  EXPECT_EQ(network.spec.input.size, 192);
  EXPECT_EQ(network.spec.input.crop, 0.9);
  EXPECT_EQ(network.spec.input.mean, *options.mean);
  EXPECT_EQ(network.spec.input.std, *options.std);
  EXPECT_EQ(finding(network, "pooling"), "padding ceil (--pool)");
}

TEST_F(TorchNames, OptionsThatFitNoLayerAreRefused) {
  const auto basic = test::torch_state(test::plain_spec(UnitKind::kBasicV1));
  expect_mentions(refusal(basic, {.stride_on = StrideOn::k1x1}), "--stride-on is 1x1");
  ModelSpec small = v1_;
  small.stem = Stem::kSmall;
  expect_mentions(refusal(test::torch_state(small), {.pool = StemPool::kSame}), "--pool");
}

TEST_F(TorchNames, ANetworkOfBlueGreenAndRedRunsOnRedGreenAndBlue) {
  const auto state = test::torch_state(v1_);
  const ImportedNetwork rgb = imported(state), bgr = imported(state, {.bgr = true});
  test::expect_near(test::logits_of(bgr.spec, bgr.weights),
                    test::logits_of(rgb.spec, rgb.weights, /*reversed_colours=*/true), 1e-5);
  EXPECT_NE(test::logits_of(bgr.spec, bgr.weights), test::logits_of(rgb.spec, rgb.weights));
}

TEST_F(TorchNames, PrefixesOfAllNamesAreRemovedAndCountersLeftOut) {
  auto state = test::torch_state(v1_);
  state.push_back(test::filled("bn1.num_batches_tracked", {1}));
  for (auto& tensor : state) tensor.name = "module.model." + tensor.name;
  const ImportedNetwork network = imported(state);
  EXPECT_EQ(network.spec.units, v1_.units);
  ASSERT_EQ(network.notes.size(), 1u);
  EXPECT_NE(network.notes[0].find("'module.model.'"), std::string::npos);
  EXPECT_EQ(network.ignored, std::vector<std::string>{"module.model.bn1.num_batches_tracked"});
}

TEST_F(TorchNames, BiasesOfConvolutionsGoIntoTheMeansOfTheirNorms) {
  auto state = test::torch_state(v1_);
  state.push_back(test::filled("layer1.1.conv2.bias", {4}, 0.25f));
  const ImportedNetwork network = imported(state);
  const auto& mean = test::named(state, "layer1.1.bn2.running_mean").values;
  for (const Weight& weight : network.weights) {
    if (weight.info.name != "layer1.1.bn2.running_mean") continue;
    for (size_t i = 0; i < mean.size(); ++i) EXPECT_FLOAT_EQ(weight.values[i], mean[i] - 0.25f);
  }
  EXPECT_EQ(network.notes.size(), 1u);
}

TEST_F(TorchNames, ABiasThatNoNormFollowsMustBeZero) {
  auto state = test::torch_state(test::plain_spec(UnitKind::kBottleneck));
  state.push_back(test::filled("stages.0.blocks.1.conv3.bias", {16}, 0));
  EXPECT_EQ(imported(state).notes.size(), 0u);
  test::named(state, "stages.0.blocks.1.conv3.bias").values[3] = 1;
  expect_mentions(refusal(state), "'stages.0.blocks.1.conv3.bias'");
}

TEST_F(TorchNames, AllThatIsWrongWithTensorsStandsInOneLine) {
  auto state = test::torch_state(v1_);
  test::drop(state, "layer2.1.conv1.weight");  // of a unit in the middle
  test::drop(state, "layer2.2.bn3.running_var");
  test::named(state, "layer1.0.bn1.weight") = test::filled("layer1.0.bn1.weight", {5});
  state.push_back(test::filled("layer2.0.odd.weight", {3}));
  const std::string message = refusal(state);
  expect_mentions(message,
                  "2 tensors are missing: 'layer2.1.conv1.weight' and "
                  "'layer2.2.bn3.running_var'");
  expect_mentions(message, "'layer1.0.bn1.weight' is [5] and not [4]");
  expect_mentions(message,
                  "1 tensor belongs to no layer that is known here: 'layer2.0.odd.weight'");
}

TEST_F(TorchNames, MessagesNameTensorsAsTheFileDoes) {
  auto state = test::torch_state(v1_);
  test::drop(state, "layer1.0.bn1.bias");
  for (auto& tensor : state) tensor.name = "module." + tensor.name;
  expect_mentions(refusal(state), "'module.layer1.0.bn1.bias'");
}

TEST_F(TorchNames, ValuesThatNoNetworkHasAreRefused) {
  auto state = test::torch_state(v1_);
  test::named(state, "layer1.0.bn1.running_var").values[0] = -1;
  expect_mentions(refusal(state), "layer1.0.bn1.running_var");
  state = test::torch_state(v1_);
  test::named(state, "fc.weight").values[0] = std::numeric_limits<float>::infinity();
  expect_mentions(refusal(state), "not finite");
}

TEST_F(TorchNames, RelativesThatCannotBeRunAreNamedWithTheTensorThatTells) {
  struct Relative {
    const char* what;
    std::function<void(test::NamedList&)> change;
    const char *reason, *tensor;
  };
  const Relative relatives[] = {
      {"SE-ResNet",
       [](auto& state) {
         state.push_back(test::filled("layer1.0.se.fc1.weight", {2, 16, 1, 1}));
       },
       "squeeze and excitation", "layer1.0.se.fc1.weight"},
      {"ResNet-D, stem",
       [](auto& state) {
         test::drop(state, "conv1.weight");
         state.push_back(test::filled("conv1.0.weight", {4, 3, 3, 3}));
       },
       "three 3x3 convolutions", "conv1.0.weight"},
      {"ResNet-D, shortcut",
       [](auto& state) {
         state.push_back(test::filled("layer1.0.downsample.2.weight", {16}));
         test::named(state, "layer1.0.downsample.1.weight") =
             test::filled("layer1.0.downsample.1.weight", {16, 4, 1, 1});
       },
       "pool before they convolve", "layer1.0.downsample.1.weight"},
      {"group norm",
       [](auto& state) {
         std::erase_if(state, [](const auto& tensor) {
           return tensor.name.find("running_") != tensor.name.npos;
         });
       },
       "group norm", "layer1.0.bn1.weight"},
      {"ResNeXt",
       [](auto& state) {
         test::named(state, "layer1.0.conv2.weight") =
             test::filled("layer1.0.conv2.weight", {4, 2, 3, 3});
       },
       "in groups", "layer1.0.conv2.weight"},
      {"wide",
       [](auto& state) {
         test::named(state, "layer1.0.conv1.weight") =
             test::filled("layer1.0.conv1.weight", {8, 4, 1, 1});
         test::named(state, "layer1.0.conv2.weight") =
             test::filled("layer1.0.conv2.weight", {8, 8, 3, 3});
       },
       "8 channels wide after a stem of 4", "layer1.0.conv1.weight"},
      {"other images",
       [](auto& state) {
         test::named(state, "conv1.weight") = test::filled("conv1.weight", {4, 4, 7, 7});
       },
       "images of 4 channels", "conv1.weight"},
      {"features alone", [](auto& state) { test::drop(state, "fc.weight"); }, "no classifier",
       "fc.weight"},
  };
  for (const Relative& relative : relatives) {
    auto state = test::torch_state(v1_);
    relative.change(state);
    const std::string message = refusal(state);
    expect_mentions(message, relative.reason);
    expect_mentions(message, relative.tensor);
  }
}

TEST_F(TorchNames, PreactivationUnitsOfTwoConvolutionsNeedTheirShortcut) {
  auto state = test::torch_state(test::plain_spec(UnitKind::kBasic));
  test::drop(state, "stages.0.blocks.0.downsample.conv.weight");
  expect_mentions(refusal(state), "no shortcut convolution");
}

TEST_F(TorchNames, OtherFilesAreToldByTheirFirstBytes) {
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    test::write_bytes(directory_ / "f", bytes);
    expect_mentions(test::error_of([&] { import_network(directory_ / "f", {}); }), part);
  };
  refused("", "none of the files that can be imported");
  refused("GIF89a, and more bytes", "none of the files that can be imported");
  refused("\x89HDF\r\n\x1a\n", "tensorflowjs_converter");
  refused(std::string("\x80\x02\x8a\x0al\xfc\x9c", 7), "torch.save(");
  refused("{}", "modelTopology");
  refused(R"({"format": "graph-model", "modelTopology": {}})", "graph model");
  expect_mentions(test::error_of([&] { import_network(directory_ / "none", {}); }), "none");
  expect_mentions(test::error_of([&] { import_network(directory_.path(), {}); }), "model.json");
  const auto strangers = test::NamedList{test::filled("encoder.w", {2}), test::filled("x", {2})};
  expect_mentions(refusal(strangers), "encoder.w and x");
}

TEST_F(TorchNames, AModelOfSactNeedsNoImport) {
  write_model(directory_ / "m", v1_, test::random_weights(v1_, 1));
  expect_mentions(test::error_of([&] { import_network(directory_ / "m", {}); }), "sact export");
  const ModelSpec adaptive = test::tiny_spec(Halting::kSact);
  expect_mentions(refusal(test::torch_state(adaptive)), "halting scores");
}

TEST_F(TorchNames, ADirectoryStandsForTheModelInIt) {
  test::write_tensors(directory_ / "model.safetensors", test::torch_state(v1_));
  EXPECT_EQ(import_network(directory_.path(), {}).spec.units, v1_.units);
}

}  // namespace
}  // namespace sact
