// Model files: writing, reading, published weights without a spec, and files that do not fit.
#include "model/model_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/initial_weights.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

ModelSpec small_spec(Halting halting = Halting::kSact) {
  ModelSpec spec;
  spec.units = {2, 3};
  spec.width = 8;
  spec.classes = 4;
  spec.halting = halting;
  return spec;
}

TEST(ModelFile, RoundTripKeepsSpecAndValues) {
  test::TemporaryDirectory directory;
  ModelSpec spec = small_spec();
  spec.labels = {"tench", "church", "golf ball", "a \"quoted\" name"};
  spec.tile = 2;
  const auto weights = initial_weights(spec, {.seed = 3});
  write_model(directory / "m", spec, weights);
  const ModelFile file(directory / "m");
  EXPECT_TRUE(file.spec_was_stored());
  EXPECT_TRUE(file.remarks().empty());
  EXPECT_EQ(to_json(file.spec()), to_json(spec));
  for (const Weight& weight : weights) EXPECT_EQ(file.values(weight.info), weight.values);
}

TEST(ModelFile, ADialIsStoredBesideWhatTheFileHas) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = small_spec();
  const auto weights = initial_weights(spec, {.seed = 3});
  write_model(directory / "m", spec, weights, io::Dtype::kF16);
  Dial dial;
  dial.size = {32, 32};
  dial.images = 5;
  dial.points = {{-1, {0.9, 0.1}, {2, 3}, 1, {}, {}}, {1, {0.5, 0.1}, {1, 2}, 0.8, {}, {}}};
  const ModelFile before(directory / "m");
  EXPECT_FALSE(before.dial());
  before.write_with_dial(directory / "d", dial);
  before.write_with_dial(directory / "m", dial);  // its own file
  for (const char* name : {"d", "m"}) {
    const ModelFile file(directory / name);
    EXPECT_TRUE(file.remarks().empty());
    ASSERT_TRUE(file.dial());
    EXPECT_EQ(io::dump_json(to_json(*file.dial())), io::dump_json(to_json(dial)));
    EXPECT_EQ(to_json(file.spec()), to_json(spec));
    for (const Weight& weight : weights) {
      EXPECT_EQ(file.values(weight.info), before.values(weight.info));
    }
  }
}

TEST(ModelFile, SixteenBitWeightsAreHalfTheSizeAndKeepNormsExact) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = small_spec();
  const auto weights = initial_weights(spec);
  write_model(directory / "f32", spec, weights);
  write_model(directory / "f16", spec, weights, io::Dtype::kF16);
  EXPECT_LT(double(std::filesystem::file_size(directory / "f16")),
            0.75 * double(std::filesystem::file_size(directory / "f32")));
  const ModelFile file(directory / "f16");
  EXPECT_EQ(file.dtype(), io::Dtype::kF16);
  for (const Weight& weight : weights) {
    const auto values = file.values(weight.info);
    const bool exact =
        weight.info.role != WeightRole::kConvolution && weight.info.role != WeightRole::kLinear;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], weight.values[i],
                  exact ? 0 : 1e-3 * std::abs(weight.values[i]) + 1e-7);
    }
  }
}

/// The names and shapes of timm's resnetv2_50 and resnetv2_101, written down from its definition
/// and not from weight_list(), with a convolutional head and batch counters.
std::vector<std::pair<std::string, io::Shape>> published_names(const std::vector<int>& depths) {
  std::vector<std::pair<std::string, io::Shape>> names = {{"stem.conv.weight", {64, 3, 7, 7}}};
  auto norm = [&](const std::string& name, int64_t channels) {
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      names.push_back({name + part, {channels}});
    }
    names.push_back({name + ".num_batches_tracked", {}});
  };
  int64_t in = 64;
  for (size_t stage = 0; stage < 4; ++stage) {
    const int64_t middle = 64ll << stage, out = 256ll << stage;
    for (int unit = 0; unit < depths[stage]; ++unit) {
      const std::string prefix =
          "stages." + std::to_string(stage) + ".blocks." + std::to_string(unit) + ".";
      if (unit == 0) names.push_back({prefix + "downsample.conv.weight", {out, in, 1, 1}});
      norm(prefix + "norm1", in);
      names.push_back({prefix + "conv1.weight", {middle, in, 1, 1}});
      norm(prefix + "norm2", middle);
      names.push_back({prefix + "conv2.weight", {middle, middle, 3, 3}});
      norm(prefix + "norm3", middle);
      names.push_back({prefix + "conv3.weight", {out, middle, 1, 1}});
      in = out;
    }
  }
  norm("norm", 2048);
  names.push_back({"head.fc.weight", {1000, 2048, 1, 1}});
  names.push_back({"head.fc.bias", {1000}});
  return names;
}

/// The same of torchvision's resnet50 and resnet101, or of resnet18 and resnet34.
std::vector<std::pair<std::string, io::Shape>> torchvision_names(const std::vector<int>& depths,
                                                                 bool bottleneck) {
  std::vector<std::pair<std::string, io::Shape>> names;
  auto layer = [&](const std::string& conv, const std::string& bn, int64_t out, int64_t in,
                   int64_t kernel) {
    names.push_back({conv + ".weight", {out, in, kernel, kernel}});
    for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      names.push_back({bn + part, {out}});
    }
    names.push_back({bn + ".num_batches_tracked", {}});
  };
  layer("conv1", "bn1", 64, 3, 7);
  int64_t in = 64;
  for (size_t stage = 0; stage < 4; ++stage) {
    const int64_t middle = 64ll << stage, out = middle * (bottleneck ? 4 : 1);
    for (int unit = 0; unit < depths[stage]; ++unit) {
      const std::string prefix =
          "layer" + std::to_string(stage + 1) + "." + std::to_string(unit) + ".";
      if (bottleneck) {
        layer(prefix + "conv1", prefix + "bn1", middle, in, 1);
        layer(prefix + "conv2", prefix + "bn2", middle, middle, 3);
        layer(prefix + "conv3", prefix + "bn3", out, middle, 1);
      } else {
        layer(prefix + "conv1", prefix + "bn1", middle, in, 3);
        layer(prefix + "conv2", prefix + "bn2", out, middle, 3);
      }
      if (unit == 0 && in != out) {
        layer(prefix + "downsample.0", prefix + "downsample.1", out, in, 1);
      }
      in = out;
    }
  }
  names.push_back({"fc.weight", {1000, in}});
  names.push_back({"fc.bias", {1000}});
  return names;
}

void write_published(const std::filesystem::path& path,
                     const std::vector<std::pair<std::string, io::Shape>>& names) {
  std::vector<std::vector<std::byte>> storage;
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, shape] : names) {
    int64_t elements = 1;
    for (int64_t extent : shape) elements *= extent;
    const bool counter = name.ends_with("num_batches_tracked");
    const io::Dtype dtype = counter ? io::Dtype::kI64 : io::Dtype::kF16;
    storage.emplace_back(size_t(elements) * io::dtype_size(dtype));
    tensors.push_back({name, {dtype, shape, storage.back()}});
  }
  io::write_safetensors(path, tensors, {{"format", "pt"}});
}

TEST(ModelFile, PublishedResnetV2WeightsLoadWithoutRenaming) {
  test::TemporaryDirectory directory;
  for (const auto& depths : {std::vector<int>{3, 4, 6, 3}, {3, 4, 23, 3}}) {
    write_published(directory / "timm", published_names(depths));
    const ModelFile file(directory / "timm");
    EXPECT_FALSE(file.spec_was_stored());
    ASSERT_EQ(file.remarks().size(), 1u);
    EXPECT_NE(file.remarks()[0].find("assumed"), std::string::npos) << "input is a guess";
    EXPECT_EQ(file.spec().units, depths);
    EXPECT_EQ(file.spec().halting, Halting::kNone);
    EXPECT_EQ(file.spec().classes, 1000);
    EXPECT_EQ(file.spec().width, 64);
    for (const WeightInfo& weight : weight_list(file.spec())) {
      EXPECT_EQ(int64_t(file.values(weight).size()), weight.elements());
    }
  }
}

TEST(ModelFile, PublishedResnetV1WeightsLoadWithoutRenaming) {
  test::TemporaryDirectory directory;
  struct Published {
    std::vector<int> depths;
    bool bottleneck;
    int64_t parameters;  // as torchvision's documentation has them
  };
  for (const Published& published : {Published{{2, 2, 2, 2}, false, 11'689'512},
                                     {{3, 4, 6, 3}, false, 21'797'672},
                                     {{3, 4, 6, 3}, true, 25'557'032},
                                     {{3, 4, 23, 3}, true, 44'549'160}}) {
    SCOPED_TRACE(published.parameters);
    write_published(directory / "m", torchvision_names(published.depths, published.bottleneck));
    const ModelFile file(directory / "m");
    EXPECT_EQ(file.remarks().size(), 1u) << "no tensor is left over";
    EXPECT_EQ(file.spec().units, published.depths);
    EXPECT_EQ(file.spec().unit,
              published.bottleneck ? UnitKind::kBottleneckV1 : UnitKind::kBasicV1);
    EXPECT_EQ(file.spec().classes, 1000);
    EXPECT_EQ(parameter_count(file.spec()), published.parameters);
  }
}

TEST(ModelFile, SpecIsWorkedOutForEveryKindOfNetwork) {
  test::TemporaryDirectory directory;
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (UnitKind unit :
         {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
      for (Stem stem : {Stem::kImageNet, Stem::kSmall}) {
        ModelSpec spec = small_spec(halting);
        spec.unit = unit;
        spec.stem = stem;
        spec.halting_norm = halting != Halting::kAct;
        std::vector<std::vector<std::byte>> storage;
        std::vector<io::NamedTensor> tensors;
        for (const WeightInfo& weight : weight_list(spec)) {
          storage.emplace_back(size_t(weight.elements()) * 4);
          tensors.push_back({weight.name, {io::Dtype::kF32, weight.shape, storage.back()}});
        }
        io::write_safetensors(directory / "m", tensors, {});
        ModelSpec found = ModelFile(directory / "m").spec();
        if (halting == Halting::kNone) found.halting_norm = spec.halting_norm;
        EXPECT_EQ(to_json(found), to_json(spec));
      }
    }
  }
}

TEST(ModelFile, AUnitThatLacksAWeightMakesNoSmallerNetwork) {
  test::TemporaryDirectory directory;
  for (const std::string missing : {"layer1.1.conv1.weight", "layer1.0.conv3.weight"}) {
    auto names = torchvision_names({3, 1, 1, 1}, /*bottleneck=*/true);
    std::erase_if(names, [&](const auto& tensor) { return tensor.first == missing; });
    write_published(directory / "m", names);
    const std::string message = test::error_of([&] { ModelFile(directory / "m"); });
    EXPECT_NE(message.find("'" + missing + "'"), std::string::npos) << message;
  }
}

TEST(ModelFile, NumbersOfAFileWithoutASpecAreCheckedBeforeTheyAreUsed) {
  test::TemporaryDirectory directory;
  const std::vector<std::byte> zeros(4096 * 4);
  const auto problem = [&](int64_t width, int blocks) {
    std::vector<io::NamedTensor> tensors;
    const auto add = [&](const std::string& name, const io::Shape& shape) {
      int64_t elements = 1;
      for (int64_t extent : shape) elements *= extent;
      tensors.push_back(
          {name, {io::Dtype::kF32, shape, std::span(zeros).first(size_t(elements) * 4)}});
    };
    add("stem.conv.weight", {width, 1, 1, 3});
    for (int block = 0; block < blocks; ++block) {
      add("stages." + std::to_string(block) + ".blocks.0.conv1.weight", {1, 1, 1, 1});
    }
    io::write_safetensors(directory / "m", tensors, {});
    return test::error_of([&] { ModelFile(directory / "m"); });
  };
  EXPECT_NE(problem(8, 40).find("number of blocks"), std::string::npos);
  EXPECT_NE(problem(1200, 4).find("'width'"), std::string::npos);
}

/// Writes a small model after `change` has had its way with tensors and metadata.
template <typename Change>
std::string error_after(Change change) {
  test::TemporaryDirectory directory;
  const ModelSpec spec = small_spec();
  std::map<std::string, std::pair<WeightInfo, std::vector<std::byte>>> stored;
  for (const Weight& weight : initial_weights(spec)) {
    stored[weight.info.name] = {weight.info, io::stored_as(weight.values, io::Dtype::kF32)};
  }
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, entry] : stored) {
    tensors.push_back({name, {io::Dtype::kF32, entry.first.shape, entry.second}});
  }
  io::Metadata metadata = {{"sact", to_json(spec)}};
  change(tensors, metadata);
  io::write_safetensors(directory / "m", tensors, metadata);
  return test::error_of([&] {
    const ModelFile file(directory / "m");
    for (const WeightInfo& weight : weight_list(file.spec())) file.values(weight);
  });
}

io::NamedTensor& named(std::vector<io::NamedTensor>& tensors, const std::string& name) {
  for (io::NamedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no " << name;
  return tensors.front();
}

TEST(ModelFile, FilesThatDoNotFitTheirSpecAreRefused) {
  using Tensors = std::vector<io::NamedTensor>;
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata&) {
              std::erase_if(tensors, [](const auto& t) { return t.name == "norm.bias"; });
            }).find("'norm.bias'"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata&) {
              named(tensors, "head.fc.weight").view.shape = {4, 32, 1, 2};
            }).find("shape [4, 64]"),
            std::string::npos)
      << "only trailing ones are dropped";
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata&) {
              named(tensors, "stem.conv.weight").view.dtype = io::Dtype::kI32;
            }).find("floating point"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors&, io::Metadata& metadata) {
              metadata["sact"] = R"({"units":[2,4],"width":8,"classes":4})";
            }).find("stages.1.blocks.3"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors&, io::Metadata& metadata) {
              metadata["sact"] = "{\"units\":";
            }).find("JSON"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata& metadata) {
              metadata.clear();
              std::erase_if(tensors, [](const auto& t) { return t.name == "stem.conv.weight"; });
            }).find("stem.conv.weight"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata& metadata) {
              metadata.clear();
              named(tensors, "stem.conv.weight").view.shape = {1176};
            }).find("dimensions"),
            std::string::npos);
}

TEST(ModelFile, ValuesThatCannotBeAreRefused) {
  static const float nan = std::numeric_limits<float>::quiet_NaN();
  static const std::vector<float> bad_bias = {1, nan, 1, 1};
  static const std::vector<float> bad_variance(64, -1.0f);
  using Tensors = std::vector<io::NamedTensor>;
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata&) {
              named(tensors, "head.fc.bias").view.bytes = std::as_bytes(std::span(bad_bias));
            }).find("not finite"),
            std::string::npos);
  EXPECT_NE(error_after([](Tensors& tensors, io::Metadata&) {
              named(tensors, "norm.running_var").view.bytes =
                  std::as_bytes(std::span(bad_variance));
            }).find("variances"),
            std::string::npos);
}

TEST(ModelFile, UnknownTensorsAndKeysAreRemarkedOn) {
  test::TemporaryDirectory directory;
  ModelSpec spec = small_spec();
  spec.unknown["author"] = "\"me\"";
  auto weights = initial_weights(spec);
  weights.push_back(weights.back());
  weights.back().info.name = "ema.weight";
  write_model(directory / "m", spec, weights);
  const ModelFile file(directory / "m");
  ASSERT_EQ(file.remarks().size(), 2u);
  EXPECT_NE(file.remarks()[0].find("ema.weight"), std::string::npos);
  EXPECT_NE(file.remarks()[1].find("author"), std::string::npos);
}

TEST(Weights, ParameterCountOfThePublishedNetworks) {
  ModelSpec spec;
  spec.units = {3, 4, 6, 3};
  EXPECT_EQ(parameter_count(spec), 25'549'352);
  spec.units = {3, 4, 23, 3};
  EXPECT_EQ(parameter_count(spec), 44'541'480);
}

TEST(ModelFile, WeightsTooLargeForHalfPrecisionAreNotStoredAsInfinity) {
  const test::TemporaryDirectory directory;
  ModelSpec spec;
  spec.units = {1};
  spec.width = 4;
  spec.classes = 3;
  auto weights = initial_weights(spec, {});
  weights.front().values[5] = 1e6f;
  const auto path = directory / "half.safetensors";
  const std::string message =
      test::error_of([&] { write_model(path, spec, weights, io::Dtype::kF16); });
  EXPECT_NE(message.find("bf16"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(path));
  write_model(path, spec, weights, io::Dtype::kBF16);
  EXPECT_NEAR(ModelFile(path).values(weights.front().info)[5], 1e6, 5e3);
}

}  // namespace
}  // namespace sact
