// What commands write never takes the place of what they read.
#include "app/outputs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "support/errors.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

namespace fs = std::filesystem;
using app::protect_inputs;
using test::run_sact;

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ProtectInputs : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_ / "photos/cats");
    for (const char* name : {"model", "photos/cats/a.jpg", "notes.csv"}) {
      std::ofstream(directory_ / name) << name;
    }
  }

  std::string refusal(const std::vector<fs::path>& read, const std::vector<app::Output>& written) {
    return test::error_of([&] { protect_inputs(read, written); });
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ProtectInputs, AnOtherSpellingIsTheSameFile) {
  const auto message = refusal({directory_ / "model"}, {{"--csv", directory_ / "photos/../model"}});
  EXPECT_NE(message.find("--csv"), std::string::npos) << message;
  EXPECT_NE(message.find((directory_ / "photos/../model").string()), std::string::npos) << message;
  EXPECT_NE(message.find((directory_ / "model").string() + ", which is read"), std::string::npos)
      << message;
}

TEST_F(ProtectInputs, LinksOfEitherKindAndEitherSideAreSeen) {
  fs::create_symlink("model", directory_ / "soft");
  fs::create_hard_link(directory_ / "model", directory_ / "hard");
  fs::create_directory_symlink("photos", directory_ / "album");
  for (const char* name : {"soft", "hard"}) {
    refusal({directory_ / "model"}, {{"--raw", directory_ / name}});
    refusal({directory_ / name}, {{"--raw", directory_ / "model"}});
    refusal({directory_ / name}, {{"--raw", directory_ / name}});
  }
  refusal({directory_ / "photos/cats/a.jpg"}, {{"--raw", directory_ / "album/cats/a.jpg"}});
}

TEST_F(ProtectInputs, AFolderProtectsWhatIsInIt) {
  fs::create_directory_symlink("photos", directory_ / "album");
  fs::create_symlink("photos/cats/a.jpg", directory_ / "picture");
  for (const char* name : {"photos/cats/a.jpg", "album/cats/a.jpg", "picture"}) {
    const auto message = refusal({directory_ / "photos"}, {{"--csv", directory_ / name}});
    EXPECT_NE(message.find("lies in " + (directory_ / "photos").string()), std::string::npos)
        << message;
  }
  protect_inputs({directory_ / "photos"},
                 {{"--csv", directory_ / "photos/new.csv"}, {"--plot", directory_ / "notes.csv"}});
}

TEST_F(ProtectInputs, TwoOutputsAreTwoFiles) {
  const auto message =
      refusal({}, {{"--csv", directory_ / "out"}, {"--plot", directory_ / "photos/../out"}});
  EXPECT_NE(message.find("--csv writes the same file"), std::string::npos) << message;
}

TEST_F(ProtectInputs, WhatIsNotGivenOrNotThereIsPassedOver) {
  protect_inputs({"", "synthetic:size=32", directory_ / "missing"},
                 {{"--csv", ""}, {"--plot", ""}, {"--raw", directory_ / "missing"}});
}

/// Every command that writes, told to write over each file that it reads.
class CliOutputs : public ::testing::Test {
 protected:
  void SetUp() override {
    make_model("m", "sact");
    make_model("plain", "none");
    ASSERT_EQ(sact({"synth", "--out", "shapes", "--count", "12", "--size", "40"}).status, 0);
    const data::SyntheticSample sample = data::synthetic_sample({}, 0);
    io::write_image(directory_ / "a.jpg", sample.image);
    io::write_image(directory_ / "b.jpg", sample.image);
    std::ofstream(directory_ / "names") << "one\ntwo\n";
  }

  void make_model(const std::string& name, const std::string& halting) {
    const auto made = sact({"new", "--units", "2,2", "--width", "4", "--classes", "8",
                            "--input-size", "40", "--halting", halting, "--out", name});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Finished sact(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  /// The command is refused, names `file`, and leaves it as it was.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& file) {
    const std::string before = text_of(directory_ / file);
    const auto finished = sact(arguments);
    EXPECT_EQ(finished.status, 1) << finished.out << finished.err;
    EXPECT_NE(finished.err.find(file), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("would be overwritten"), std::string::npos) << finished.err;
    EXPECT_EQ(text_of(directory_ / file), before) << file;
  }

  /// A photograph of the synthetic data set.
  std::string first_shape() {
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "shapes")) {
      if (entry.path().extension() == ".png") {
        return entry.path().lexically_relative(directory_.path()).string();
      }
    }
    return {};
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliOutputs, PredictKeepsPhotographsAndTheModel) {
  const std::vector<std::string> predict = {"predict", "m", "a.jpg", "b.jpg", "--no-pictures"};
  for (const char* file : {"b.jpg", "m"}) {
    auto arguments = predict;
    arguments.insert(arguments.end(), {"--raw", file});
    expect_refused(arguments, file);
  }
  fs::create_symlink("m", directory_ / "link");
  expect_refused({"predict", "m", "a.jpg", "--no-pictures", "--raw", "link"}, "m");
  ASSERT_EQ(sact({"predict", "m", "a.jpg", "--no-pictures", "--raw", "raw"}).status, 0);
}

TEST_F(CliOutputs, PredictKeepsItsTensor) {
  ASSERT_EQ(sact({"predict", "m", "a.jpg", "--no-pictures", "--raw", "raw"}).status, 0);
  expect_refused({"predict", "m", "--tensor", "raw", "--raw", "raw"}, "raw");
}

TEST_F(CliOutputs, DetectKeepsPhotographsAndTheModel) {
  const auto made = sact(
      {"new", "--detect", "--units", "1,1,1,1", "--width", "4", "--classes", "2", "--out", "d"});
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* file : {"a.jpg", "d"}) {
    expect_refused({"detect", "d", "a.jpg", "--no-pictures", "--results", file}, file);
  }
}

TEST_F(CliOutputs, EvalKeepsTheModelAndTheData) {
  const std::string picture = first_shape();
  for (const char* option : {"--csv", "--plot", "--predictions"}) {
    for (const std::string& file : {std::string("m"), picture}) {
      expect_refused({"eval", "m", "--data", "shapes", "--split", "", option, file}, file);
    }
  }
}

TEST_F(CliOutputs, ExportAndNewKeepModelsAndLabels) {
  expect_refused({"export", "m", "--dtype", "f16", "--out", "m"}, "m");
  expect_refused({"export", "plain", "--onnx", "plain"}, "plain");
  expect_refused({"new", "--units", "1", "--labels", "names", "--out", "names"}, "names");
}

TEST_F(CliOutputs, BaselineTableAndBenchKeepTheirModels) {
  expect_refused({"baseline", "m", "--from", "plain", "--data", "synthetic", "--out", "plain"},
                 "plain");
  expect_refused({"table", "A=m", "--data", "synthetic", "--csv", "m"}, "m");
  expect_refused({"bench", "m", "--csv", "m"}, "m");
}

TEST_F(CliOutputs, PlantedLinksInTheOutputFolderAreNotFollowed) {
  fs::create_directories(directory_ / "maps");
  std::ofstream(directory_ / "treasure") << "gold";
  fs::create_symlink("../treasure", directory_ / "maps/overview.png");
  const auto finished = sact({"predict", "m", "a.jpg", "b.jpg", "--out", "maps"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(text_of(directory_ / "treasure"), "gold");
}

}  // namespace
}  // namespace sact
