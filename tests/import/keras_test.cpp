// TensorFlow.js layers models of Keras' ResNets: names, layouts, configs, shards, damage.
#include <gtest/gtest.h>

#include <climits>

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
using test::Json;
using test::KerasModel;

class Keras : public ::testing::Test {
 protected:
  Keras() {
    spec_.stride_on = StrideOn::k1x1;
    spec_.norm_epsilon = 1e-3;
  }

  ImportedNetwork imported(const KerasModel& model, const std::string& type = "float32",
                           const ImportOptions& options = {}) {
    model.write(directory_.path(), type);
    return import_network(directory_ / "model.json", options);
  }
  std::string refusal(const KerasModel& model) {
    return test::error_of([&] { imported(model); });
  }
  std::vector<float> own_logits() const {
    return test::logits_of(spec_, test::random_weights(spec_, 1));
  }
  /// Writes a good model, changes its model.json and says why that is refused.
  std::string refusal_of_json(const std::function<void(Json&)>& change) {
    KerasModel(spec_, 1).write(directory_.path());
    Json json = Json::parse(test::read_bytes(directory_ / "model.json"));
    change(json);
    test::write_bytes(directory_ / "model.json", json.dump());
    return test::error_of([&] { import_network(directory_ / "model.json", {}); });
  }
  static void expect_mentions(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_ = test::plain_spec(UnitKind::kBottleneckV1, {2, 3});
};

TEST_F(Keras, BothNamingsComeBackWithEqualLogits) {
  for (const bool old_names : {true, false}) {
    for (const bool biases : {true, false}) {
      const ImportedNetwork network = imported(
          KerasModel(spec_, 1, {.old_names = old_names, .biases = biases, .softmax = old_names}));
      EXPECT_EQ(network.library, "Keras ResNet");
      EXPECT_EQ(network.spec.units, spec_.units);
      EXPECT_EQ(network.spec.stride_on, StrideOn::k1x1);
      EXPECT_EQ(network.spec.stem_pool, StemPool::kSymmetric);
      EXPECT_EQ(network.spec.norm_epsilon, 1e-3);
      EXPECT_EQ(network.spec.input.size, 64);
      EXPECT_EQ(network.notes.size(), biases ? 1u : 0u);
      test::expect_near(test::logits_of(network.spec, network.weights), own_logits(), 1e-4);
    }
  }
}

TEST_F(Keras, InputIsThatOfKerasAndColoursAreSwapped) {
  const ImportedNetwork network = imported(KerasModel(spec_, 1));
  EXPECT_NEAR(network.spec.input.mean[0] * 255, 123.68, 1e-9) << "of red";
  EXPECT_NEAR(network.spec.input.mean[2] * 255, 103.939, 1e-9) << "of blue";
  EXPECT_NEAR(network.spec.input.std[1] * 255, 1, 1e-9);
  EXPECT_EQ(finding(network, "channels"),
            "blue, green, red: swapped in the first convolution (as Keras' ResNet has it)");
  const ImportedNetwork kept = imported(KerasModel(spec_, 1), "float32", {.bgr = false});
  test::expect_near(test::logits_of(kept.spec, kept.weights, /*reversed_colours=*/true),
                    test::logits_of(network.spec, network.weights), 1e-4);
}

TEST_F(Keras, QuantisedWeightsComeBackAsNearAsTheyWereStored) {
  // Means and biases that belong together are rounded apart, so that logits say little of 8 bits.
  const KerasModel model(spec_, 1, {.biases = false});
  const auto weights = test::random_weights(spec_, 1);
  for (const auto& [type, share] :
       {std::pair("float16", 1e-3), std::pair("uint16", 1e-5), std::pair("uint8", 1.0 / 500)}) {
    const ImportedNetwork network = imported(model, type);
    for (size_t i = 0; i < weights.size(); ++i) {
      const auto& expected = weights[i].values;
      const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
      const double largest = std::max(std::abs(*low), std::abs(*high));
      const double range = std::string(type) == "float16" ? largest : double(*high) - *low;
      for (size_t j = 0; j < expected.size(); ++j) {
        EXPECT_NEAR(network.weights[i].values[j], expected[j], share * range + 1e-6)
            << type << " " << weights[i].info.name;
      }
    }
  }
}

TEST_F(Keras, NormsWithAnotherEpsilonComputeTheSame) {
  const auto epsilon = [](const std::string& norm) {
    return norm == "bn2a_branch2b" ? 0.25 : 1e-3;
  };
  const ImportedNetwork network = imported(KerasModel(spec_, 1, {.epsilon = epsilon}));
  EXPECT_EQ(network.spec.norm_epsilon, 1e-3);
  auto weights = test::random_weights(spec_, 1);
  for (Weight& weight : weights) {
    if (weight.info.name != "layer1.0.bn2.running_var") continue;
    for (float& value : weight.values) value += 0.249f;
  }
  test::expect_near(test::logits_of(network.spec, network.weights), test::logits_of(spec_, weights),
                    1e-4);
}

TEST_F(Keras, NormsMayLackTheirScaleAndShift) {
  KerasModel model(spec_, 1);
  model.config("bn_conv1")["scale"] = false;
  model.config("bn_conv1")["center"] = false;
  test::drop(model.tensors, "bn_conv1/gamma");
  test::drop(model.tensors, "bn_conv1/beta");
  const ImportedNetwork network = imported(model);
  auto weights = test::random_weights(spec_, 1);
  for (Weight& weight : weights) {
    if (weight.info.name == "bn1.weight") weight.values.assign(4, 1);
    if (weight.info.name == "bn1.bias") weight.values.assign(4, 0);
  }
  test::expect_near(test::logits_of(network.spec, network.weights), test::logits_of(spec_, weights),
                    1e-4);
}

TEST_F(Keras, PoolingIsReadFromTheLayers) {
  struct Pooling {
    Json lines;  // of zeros before it; null: no such layer
    const char* mode;
    StemPool expected;
  };
  const Pooling poolings[] = {{{{1, 1}, {1, 1}}, "valid", StemPool::kSymmetric},
                              {{{0, 1}, {0, 1}}, "valid", StemPool::kCeil},
                              {nullptr, "same", StemPool::kSame},
                              {nullptr, "valid", StemPool::kValid}};
  for (const Pooling& pooling : poolings) {
    KerasModel model(spec_, 1);
    model.config("pool1")["padding"] = pooling.mode;
    if (pooling.lines.is_null()) {
      model.found("pool1")["inbound_nodes"] = model.found("pool1_pad")["inbound_nodes"];
      std::erase_if(model.layers.get_ref<Json::array_t&>(),
                    [](const Json& layer) { return layer["name"] == "pool1_pad"; });
    } else {
      model.config("pool1_pad")["padding"] = pooling.lines;
    }
    EXPECT_EQ(imported(model).spec.stem_pool, pooling.expected) << pooling.mode;
  }
  EXPECT_EQ(imported(KerasModel(spec_, 1), "float32", {.pool = StemPool::kCeil}).spec.stem_pool,
            StemPool::kCeil);
}

TEST_F(Keras, ReferencesOfNewerKerasAreUnderstood) {
  KerasModel model(spec_, 1);
  for (Json& layer : model.layers) {
    if (layer["inbound_nodes"].empty()) continue;
    Json arguments = Json::array();
    for (const Json& node : layer["inbound_nodes"][0]) {
      arguments.push_back(
          {{"class_name", "__keras_tensor__"}, {"config", {{"keras_history", {node[0], 0, 0}}}}});
    }
    layer["inbound_nodes"] = Json::array({{{"args", arguments}, {"kwargs", Json::object()}}});
  }
  EXPECT_EQ(imported(model).spec.units, spec_.units);
}

TEST_F(Keras, LayersThatComputeSomethingElseAreRefusedByName) {
  struct Change {
    const char* layer;
    std::function<void(Json&)> change;  // of the whole layer
    const char* reason;
  };
  const Change changes[] = {
      {"activation_2", [](Json& l) { l["config"]["activation"] = "elu"; }, "no ReLU follows"},
      {"activation_2",
       [](Json& l) {
         l["class_name"] = "ReLU";
         l["config"] = {{"max_value", 6.0}};
       },
       "max_value"},
      {"res2a_branch2b",
       [](Json& l) {
         l["config"]["dilation_rate"] = {2, 2};
       },
       "dilated"},
      {"res2a_branch2b", [](Json& l) { l["config"]["groups"] = 2; }, "groups"},
      {"res2a_branch2b", [](Json& l) { l["config"]["padding"] = "valid"; }, "further to one side"},
      {"res2a_branch2b",
       [](Json& l) {
         l["config"]["kernel_size"] = {5, 5};
       },
       "3x3"},
      {"res2a_branch2b", [](Json& l) { l["config"]["activation"] = "relu"; }, "activation"},
      {"res2a_branch2b", [](Json& l) { l["config"]["data_format"] = "channels_first"; }, "first"},
      {"res3a_branch2a",
       [](Json& l) {
         l["config"]["strides"] = {1, 1};
       },
       "strides"},
      {"res3b_branch2a",
       [](Json& l) {
         l["config"]["strides"] = {2, 2};
       },
       "strides"},
      {"bn2a_branch2a", [](Json& l) { l["config"].erase("epsilon"); }, "epsilon"},
      {"bn2a_branch2a", [](Json& l) { l["class_name"] = "LayerNormalization"; },
       "BatchNormalization"},
      {"res2b_branch2a", [](Json& l) { l["inbound_nodes"][0][0][0] = "pool1"; },
       "'pool1' enters it"},
      {"add_1", [](Json& l) { l["class_name"] = "Multiply"; }, "no layer adds"},
      {"conv1_pad",
       [](Json& l) {
         l["config"]["padding"] = {{2, 3}, {2, 3}};
       },
       "3 lines"},
      {"pool1",
       [](Json& l) {
         l["config"]["pool_size"] = {2, 2};
       },
       "3x3"},
      {"pool1", [](Json& l) { l["class_name"] = "AveragePooling2D"; }, "max pooling"},
      {"input_1", [](Json& l) { l["class_name"] = "Rescaling"; }, "InputLayer"},
      {"avg_pool", [](Json& l) { l["class_name"] = "GlobalMaxPooling2D"; },
       "before the classifier"},
      {"fc1000", [](Json& l) { l["config"]["activation"] = "sigmoid"; }, "softmax"},
      {"fc1000", [](Json& l) { l["class_name"] = "Flatten"; }, "no classifier"},
      {"fc1000", [](Json& l) { l["config"]["layers"] = Json::array(); }, "inside of the model"},
  };
  for (const Change& change : changes) {
    KerasModel model(spec_, 1);
    change.change(model.found(change.layer));
    model.found(change.layer);
    expect_mentions(refusal(model), change.reason);
  }
}

TEST_F(Keras, ThePoolingOfOldNetworksMustCoverThemWhole) {
  KerasModel model(spec_, 1);
  model.found("avg_pool")["class_name"] = "AveragePooling2D";
  model.config("avg_pool")["pool_size"] = {8, 8};  // 64 pixels, two blocks
  EXPECT_EQ(imported(model).spec.units, spec_.units);
  model.config("avg_pool")["pool_size"] = {7, 7};
  expect_mentions(refusal(model), "8x8");
  for (const int side : {INT_MAX, -1}) {
    model.config("input_1")["batch_input_shape"] = {nullptr, side, side, 3};
    expect_mentions(refusal(model), "cannot be used");
  }
}

TEST_F(Keras, NumbersThatAreTooLargeAreNotWrappedIntoOthers) {
  constexpr int64_t kWrap = int64_t(1) << 32;
  KerasModel sized(spec_, 1);
  sized.config("input_1")["batch_input_shape"] = {nullptr, kWrap + 64, kWrap + 64, 3};
  expect_mentions(refusal(sized), "layer 'input_1': its size is 4294967360");
  KerasModel strided(spec_, 1);
  strided.config("res2a_branch2a")["strides"] = {kWrap + 1, kWrap + 1};
  expect_mentions(refusal(strided), "'strides'");
  KerasModel padded(spec_, 1);
  padded.config("conv1_pad")["padding"] = {{kWrap + 3, kWrap + 3}, {kWrap + 3, kWrap + 3}};
  expect_mentions(refusal(padded), "padding");
}

TEST_F(Keras, TensorsThatAreMissingOrTooManyAreNamedAsKerasDoes) {
  KerasModel model(spec_, 1);
  test::drop(model.tensors, "res3b_branch2c/kernel");
  test::drop(model.tensors, "bn3b_branch2c/beta");
  model.tensors.push_back(test::filled("extra/kernel", {2}));
  const std::string message = refusal(model);
  expect_mentions(message,
                  "2 tensors are missing: 'res3b_branch2c/kernel' and 'bn3b_branch2c/beta'");
  expect_mentions(message, "'extra/kernel'");
}

TEST_F(Keras, VersionTwoAndOtherNetworksAreRefused) {
  KerasModel model(spec_, 1, {.old_names = false});
  model.tensors.push_back(test::filled("conv2_block1_preact_bn/gamma", {4}));
  expect_mentions(refusal(model), "ResNetV2");
  KerasModel other(spec_, 1);
  other.tensors = {test::filled("dense/kernel", {2, 2})};
  expect_mentions(refusal(other), "its tensors are dense/kernel");
}

TEST_F(Keras, AManifestThatLiesIsRefused) {
  const auto weight = [](Json& json, int i) -> Json& {
    return json["weightsManifest"][0]["weights"][size_t(i)];
  };
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 0)["shape"][0] = 9; }), "bytes, but");
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 0)["shape"] = {-1}; }), "shape has -1");
  expect_mentions(refusal_of_json([&](Json& j) {
                    weight(j, 0)["shape"] = {1LL << 40, 1LL << 40};
                  }),
                  "impossible shape");
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 0)["shape"] = {1LL << 50}; }),
                  "cut short");
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 0)["dtype"] = "complex64"; }),
                  "complex64");
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 0).erase("name"); }), "'name'");
  expect_mentions(refusal_of_json([&](Json& j) {
                    weight(j, 0)["quantization"] = {{"dtype", "uint8"}, {"min", 0}};
                  }),
                  "'scale'");
  expect_mentions(refusal_of_json([&](Json& j) {
                    weight(j, 0)["quantization"] = {{"dtype", "int32"}, {"min", 0}, {"scale", 1}};
                  }),
                  "int32");
  expect_mentions(refusal_of_json([&](Json& j) { weight(j, 1)["name"] = weight(j, 0)["name"]; }),
                  "twice");
  expect_mentions(refusal_of_json([](Json& j) { j["weightsManifest"] = 3; }), "weightsManifest");
  expect_mentions(
      refusal_of_json([](Json& j) { j["weightsManifest"][0]["paths"][0] = "../../etc/passwd"; }),
      "not a file beside it");
  expect_mentions(
      refusal_of_json([](Json& j) { j["weightsManifest"][0]["paths"][0] = "/etc/passwd"; }),
      "not a file beside it");
  expect_mentions(
      refusal_of_json([](Json& j) { j["weightsManifest"][0]["paths"][0] = "gone.bin"; }),
      "gone.bin");
  expect_mentions(
      refusal_of_json([](Json& j) { j["weightsManifest"][0]["paths"][0] = "two\nlines.bin"; }),
      "not a file beside it");
  expect_mentions(refusal_of_json([](Json& j) {
                    Json& paths = j["weightsManifest"][0]["paths"];
                    paths.push_back("./" + paths[0].get<std::string>());
                  }),
                  "twice");
  expect_mentions(refusal_of_json([](Json& j) { j["modelTopology"].erase("model_config"); }),
                  "'config'");
  expect_mentions(refusal_of_json([](Json& j) {
                    Json& layers = j["modelTopology"]["model_config"]["config"]["layers"];
                    layers.push_back(layers[1]);
                  }),
                  "two layers");
}

TEST_F(Keras, ATensorWithoutValuesIsRefusedHoweverLargeItsOtherSides) {
  KerasModel model(spec_, 1);
  test::named(model.tensors, "conv1/kernel") = {
      "conv1/kernel", {1LL << 40, 0, 1LL << 40, 1LL << 40}, {}};
  expect_mentions(refusal(model), "weight 'conv1/kernel': its shape has 0");
}

TEST_F(Keras, ACutShardIsNamedAsSuch) {
  KerasModel(spec_, 1).write(directory_.path());
  const auto last = directory_ / "group1-shard1.bin";
  std::filesystem::resize_file(last, 4095);
  expect_mentions(test::error_of([&] { import_network(directory_ / "model.json", {}); }),
                  "cut short");
}

TEST_F(Keras, AnyByteOfTheModelMayBeAnyOther) {
  KerasModel(test::plain_spec(UnitKind::kBottleneckV1, {1}), 1).write(directory_.path());
  const std::string good = test::read_bytes(directory_ / "model.json");
  for (size_t place = 0; place < good.size(); place += 13) {
    std::string damaged = good;
    damaged[place] = char(damaged[place] ^ (1 + place % 127));
    test::write_bytes(directory_ / "model.json", damaged);
    try {
      import_network(directory_ / "model.json", {});
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sact
