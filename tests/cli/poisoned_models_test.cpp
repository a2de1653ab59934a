// Models with values that make nothing but nonsense: each is refused in one line, whoever computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "data/synthetic.h"
#include "io/image.h"
#include "kernels/cpu/kernels.h"
#include "model/quantization.h"
#include "support/program.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                kNaN = std::numeric_limits<float>::quiet_NaN(),
                kLargest = std::numeric_limits<float>::max();

/// What is done to a layer. `file`: the values themselves are refused, before anything is computed.
struct Poison {
  const char* name;
  bool file;
  void (*apply)(Weight& weight);
};

template <int kWhich>
void put_one(Weight& weight) {
  constexpr float kValues[] = {kNaN, kInfinity, -kInfinity};
  weight.values[weight.values.size() / 2] = kValues[kWhich];
}

const Poison kPoisons[] = {
    {"a NaN", true, put_one<0>},
    {"infinity", true, put_one<1>},
    {"minus infinity", true, put_one<2>},
    {"overflow", false, [](Weight& weight) { std::ranges::fill(weight.values, kLargest); }},
};
const Poison kVariancePoisons[] = {
    {"a negative variance", true, [](Weight& weight) { weight.values.front() = -1; }},
    {"a variance of minus the smallest", true,
     [](Weight& weight) { weight.values.back() = -std::numeric_limits<float>::denorm_min(); }},
};

class PoisonedModels : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ / "photos/val/a");
    std::filesystem::create_directories(directory_ / "photos/val/b");
    const data::SyntheticSample sample = data::synthetic_sample({}, 0);
    for (const char* name : {"photos/val/a/1.png", "photos/val/b/1.png", "a.png"}) {
      io::write_image(directory_ / name, sample.image);
    }
    spec_.units = {2};
    spec_.width = 4;
    spec_.classes = 2;
    spec_.halting = Halting::kSact;
    spec_.labels = {"a", "b"};
  }

  void expect_refused(const std::vector<std::string>& environment,
                      std::vector<std::string> arguments, const std::string& part) {
    test::Command command;
    command.program = SACT_PROGRAM;
    command.directory = directory_.path();
    command.environment = environment;
    command.arguments = std::move(arguments);
    const test::Finished finished = test::Running(command).wait();
    SCOPED_TRACE(testing::PrintToString(command.arguments) + testing::PrintToString(environment));
    EXPECT_EQ(finished.status, 1) << finished.out << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    ++runs_;
  }

  void expect_refused_by_both(const std::vector<std::string>& environment,
                              const std::vector<std::string>& options, const std::string& part) {
    std::vector<std::string> predict = {"predict", "m", "a.png", "--no-pictures", "--size", "32"};
    std::vector<std::string> eval = {"eval", "m", "--data", "photos", "--size", "32"};
    predict.insert(predict.end(), options.begin(), options.end());
    eval.insert(eval.end(), options.begin(), options.end());
    expect_refused(environment, predict, part);
    expect_refused(environment, eval, part);
  }

  /// By `predict` and `eval`, with every back end, type and instruction set.
  void expect_refused_everywhere(const std::string& part, bool every_table) {
    const auto& tables = kernels::available_tables();
    for (size_t i = every_table ? 0 : tables.size() - 1; i < tables.size(); ++i) {
      for (const char* dtype : {"fp32", "bf16"}) {
        expect_refused_by_both({std::string("SACT_ISA=") + tables[i]->name}, {"--dtype", dtype},
                               part);
      }
    }
#ifdef SACT_HAS_TORCH
    // LibTorch takes most of a second to start, and the same code reads its weights.
    if (every_table || models_ % 8 == 0) {
      expect_refused_by_both({}, {"--backend", "torch"}, part);
    }
#endif
  }

  void poison(const WeightInfo& info, const Poison& poison, bool every_table) {
    SCOPED_TRACE(info.name + ": " + poison.name);
    std::vector<Weight> weights = test::random_weights(spec_, 3);
    for (Weight& weight : weights) {
      if (weight.info.name == info.name) poison.apply(weight);
    }
    write_model(directory_ / "m", spec_, weights);
    ++models_;
    if (poison.file) return expect_refused_everywhere("m: tensor '" + info.name + "'", every_table);
    expect_refused_everywhere("not finite", every_table);
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_;
  int models_ = 0, runs_ = 0;
};

TEST_F(PoisonedModels, AreRefusedByEveryTypeAndBackEnd) {
  for (const WeightInfo& info : weight_list(spec_)) {
    for (const Poison& each : kPoisons) {
      // What is too large only for a halting score has an answer, and so has a largest bias.
      const bool large_is_fatal =
          (info.role == WeightRole::kConvolution && info.name.find("halting") == info.name.npos) ||
          info.name == "head.fc.weight" || info.name == "norm.weight" || info.name == "norm.bias";
      if (each.file || large_is_fatal) poison(info, each, false);
    }
    if (info.role != WeightRole::kNormVariance) continue;
    for (const Poison& each : kVariancePoisons) poison(info, each, false);
  }
  EXPECT_GE(models_, 50);
}

TEST_F(PoisonedModels, AreRefusedByEveryInstructionSet) {
  for (const WeightInfo& info : weight_list(spec_)) {
    if (info.name == "stages.0.blocks.1.conv2.weight") poison(info, kPoisons[0], true);
    if (info.name == "head.fc.weight" || info.name == "stem.conv.weight") {
      poison(info, kPoisons[3], true);
    }
  }
  EXPECT_EQ(models_, 3);
  EXPECT_GE(runs_, 12);
}

TEST_F(PoisonedModels, AreRefusedWithWeightsOf8Bits) {
  InputScales scales;
  for (const QuantizedLayer& layer : quantized_layers(spec_)) scales[layer.name] = 0.02f;
  const auto write = [&](const std::vector<Weight>& weights) {
    write_model(directory_ / "m", spec_, weights, io::Dtype::kF32, {}, scales);
    ++models_;
  };
  const std::vector<Weight> sound = test::random_weights(spec_, 3);
  write(sound);
  ASSERT_EQ(
      test::run_sact({"predict", "m", "a.png", "--no-pictures", "--size", "32", "--dtype", "int8"},
                     directory_.path())
          .status,
      0);
  for (const QuantizedLayer& layer : quantized_layers(spec_)) {
    if (layer.name != layer.reads_like) continue;
    for (const float poison : {kNaN, kInfinity, -1.0f, 0.0f}) {
      scales[layer.name] = poison;
      write(sound);
      expect_refused_by_both({}, {"--dtype", "int8"}, "m: tensor '" + layer.name);
    }
    scales[layer.name] = 0.02f;
  }
  for (const char* overflows : {"stem.conv.weight", "head.fc.weight"}) {
    std::vector<Weight> weights = sound;
    for (Weight& weight : weights) {
      if (weight.info.name == overflows) std::ranges::fill(weight.values, kLargest);
    }
    write(weights);
    expect_refused_by_both({}, {"--dtype", "int8"}, "not finite");
  }
  EXPECT_GE(models_, 10);
}

/// Nothing is divided by it: the norm's own epsilon is added.
TEST_F(PoisonedModels, AVarianceOfZeroIsNoPoison) {
  std::vector<Weight> weights = test::random_weights(spec_, 3);
  for (Weight& weight : weights) {
    if (weight.info.role == WeightRole::kNormVariance) std::ranges::fill(weight.values, 0.0f);
  }
  write_model(directory_ / "m", spec_, weights);
  const auto finished =
      test::run_sact({"predict", "m", "a.png", "--no-pictures", "--size", "32"}, directory_.path());
  EXPECT_EQ(finished.status, 0) << finished.err;
}

}  // namespace
}  // namespace sact
