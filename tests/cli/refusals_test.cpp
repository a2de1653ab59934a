// What cannot be computed is refused, in one line and before the work: memory that is not there,
// images of extreme shape, networks whose values overflow.
#include <gtest/gtest.h>

#include <fstream>

#include "data/synthetic.h"
#include "io/image.h"
#include "kernels/cpu/kernels.h"
#include "support/program.h"
#include "support/random_model.h"
#include "support/sanitizers.h"
#include "support/temporary.h"

namespace sact {
namespace {

class CliRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ / "photos/val/a");
    const data::SyntheticSample sample = data::synthetic_sample({}, 0);
    io::write_image(directory_ / "photos/val/a/1.png", sample.image);
    io::write_image(directory_ / "a.png", sample.image);
  }

  void write(const std::string& name, const ModelSpec& spec, const std::vector<Weight>& weights) {
    write_model(directory_ / name, spec, weights);
  }

  /// A small network with the activations of a ResNet.
  void write_wide(const std::string& name, Halting halting) {
    ModelSpec spec;
    spec.units = {2};
    spec.halting = halting;
    spec.labels = {"a", "b"};
    spec.classes = 2;
    write(name, spec, initial_weights(spec, {}));
  }

  test::Finished run(const test::Command& command) { return test::Running(command).wait(); }

  void expect_refused(test::Command command, const std::string& part) {
    command.program = SACT_PROGRAM;
    command.directory = directory_.path();
    const test::Finished finished = run(command);
    EXPECT_EQ(finished.status, 1) << finished.out << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliRefusals, NamesWithLineEndsKeepTheReason) {
  write_wide("m", Halting::kSact);
  std::ofstream(directory_ / "new\nline.jpg") << "text";
  expect_refused({.arguments = {"predict", "m", "new\nline.jpg"}}, "line.jpg: is ");
  expect_refused({.arguments = {"info", "no\nmodel"}}, "model: ");
}

TEST_F(CliRefusals, AModelAndAPictureThatAreSwapped) {
  write_wide("m", Halting::kSact);
  expect_refused({.arguments = {"predict", "a.png", "m"}}, "a.png: is a picture");
}

TEST_F(CliRefusals, WhatIsNoSizeIsAMistakeOfTheCommandLine) {
  write_wide("m", Halting::kSact);
  for (const char* command : {"predict", "eval", "bench", "info"}) {
    const auto finished = test::run_sact({command, "m", "--size", "abc"}, directory_.path());
    EXPECT_EQ(finished.status, 2) << command << finished.err;
    EXPECT_NE(finished.err.find("'abc' is not an image size"), std::string::npos) << finished.err;
  }
}

#ifndef SACT_MEMORY_IS_SANITIZED

constexpr uint64_t kLimit = uint64_t{3} << 30;

TEST_F(CliRefusals, ImagesThatDoNotFitIntoMemory) {
  write_wide("m", Halting::kSact);
  const std::vector<std::vector<std::string>> commands = {
      {"predict", "m", "a.png", "--no-pictures", "--whole", "--size", "6000"},
      {"predict", "m", "a.png", "--no-pictures", "--size", "9000x9000"},
      {"bench", "m", "--size", "20000x20000"},
      {"bench", "m", "--size", "600", "--batch", "1,4096"},
      {"saliency", "map", "m", "a.png", "--size", "6000"},
      {"eval", "m", "--data", "photos", "--size", "9000"},
#ifdef SACT_HAS_TORCH
      {"eval", "m", "--data", "photos", "--size", "9000", "--backend", "torch"},
      {"predict", "m", "a.png", "--no-pictures", "--size", "9000x9000", "--backend", "torch"},
#endif
  };
  for (const auto& arguments : commands) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    test::Command command;
    command.arguments = arguments;
    command.max_memory_bytes = kLimit;
    expect_refused(command, "of memory, but there is");
  }
}

TEST_F(CliRefusals, ADetectorWhoseBoxesDoNotFitIntoMemory) {
  ModelSpec spec;
  spec.units = {1, 1};
  spec.classes = 2;
  spec.detection = DetectionSpec();
  spec.detection->proposals = 10'000;
  spec.detection->crop = 256;
  spec.detection->pool = 1;
  write("d", spec, initial_weights(spec, {}));
  test::Command command;
  command.arguments = {"detect", "d", "a.png", "--no-pictures"};
  command.max_memory_bytes = kLimit;
  expect_refused(command, "a detector with 10000 proposals, each cropped to 256x256");
}

#endif

TEST_F(CliRefusals, ImagesTooLongForTheirShorterSide) {
  write_wide("m", Halting::kNone);
  io::write_image(directory_ / "thread.png", io::RgbImage(1, 1'000'000));
  test::Command command;
  command.arguments = {"predict", "m", "thread.png", "--no-pictures", "--whole", "--size", "2148"};
  expect_refused(command, "an image of 1000000x1 with its shorter side scaled to 2148");
}

/// A network whose first convolution gives infinite values, and whose second then none at all.
std::vector<Weight> overflowing_weights(const ModelSpec& spec) {
  std::vector<Weight> weights = initial_weights(spec, {.seed = 3});
  for (Weight& weight : weights) {
    if (weight.info.role != WeightRole::kConvolution) continue;
    for (float& value : weight.values) value *= 1e30f;
  }
  return weights;
}

TEST_F(CliRefusals, NetworksThatOverflowOnEveryInstructionSet) {
  const ModelSpec specs[] = {test::tiny_spec(Halting::kNone), test::tiny_spec(Halting::kSact)};
  for (ModelSpec spec : specs) {
    spec.labels = {"a", "b", "c", "d", "e", "f"};
    write("m", spec, overflowing_weights(spec));
    for (const kernels::Table* table : kernels::available_tables()) {
      for (const std::string dtype : {"fp32", "bf16"}) {
        SCOPED_TRACE(std::string(table->name) + " " + dtype + " " +
                     std::string(name_of(spec.halting)));
        test::Command command;
        command.environment = {std::string("SACT_ISA=") + table->name};
        command.arguments = {"predict", "m", "a.png", "--no-pictures", "--dtype", dtype};
        expect_refused(command, "a.png: the network's output is not finite");
        command.arguments = {"eval", "m", "--data", "photos", "--dtype", dtype};
        expect_refused(command, "photos/val/a/1.png: the network's output is not finite");
      }
    }
#ifdef SACT_HAS_TORCH
    test::Command command;
    command.arguments = {"eval", "m", "--data", "photos", "--backend", "torch"};
    expect_refused(command, "photos/val/a/1.png: the network's output is not finite");
#endif
  }
}

}  // namespace
}  // namespace sact
