// Whole numbers of 8 bits from the command line: calibrating, running, and what is refused.
#include <gtest/gtest.h>

#include "cli/shared_folder.h"
#include "io/json.h"

namespace sact {
namespace {

using io::Json;

class CliInt8 : public test::SharedFolder<CliInt8> {
 protected:
  static void SetUpTestSuite() {
    open_folder();
    expect_done({"new", "--units", "2,3", "--width", "8", "--classes", "10", "--input-size", "48",
                 "--halting", "sact", "--halting-bias", "-1", "--out", "m"});
    expect_done({"synth", "--out", "photos", "--count", "6", "--size", "50x60"});
    expect_done({"export", "m", "--dtype", "int8", "--calibrate", "photos", "--out", "m8"});
  }

  static Json bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--density", "1", "--rounds", "1", "--json"});
    return Json::parse(expect_done(arguments).out)["rows"][0];
  }
};

TEST_F(CliInt8, AnExportedModelRunsInWholeNumbersByItself) {
  for (const std::string type : {"auto", "int8"}) {
    const Json row = bench({"bench", "m8", "--dtype", type});
    EXPECT_EQ(row["dtype"], "int8");
    EXPECT_FALSE(row["kernels_because"].get<std::string>().empty());
  }
  EXPECT_EQ(bench({"bench", "m8"})["dtype"], "int8");
  EXPECT_EQ(bench({"bench", "m8", "--dtype", "fp32"})["dtype"], "fp32");
  EXPECT_EQ(bench({"bench", "m", "--dtype", "auto"})["dtype"], "fp32");
}

TEST_F(CliInt8, ItsAnswersAreNearToThoseInFloats) {
  const auto probability = [](const std::string& model, const std::string& type) {
    const Json json = Json::parse(
        expect_done({"predict", model, "photos", "--no-pictures", "--dtype", type, "--json"}).out);
    return json["images"][0]["top"][0]["score"].get<double>();
  };
  const double right = probability("m", "fp32");
  EXPECT_NEAR(probability("m8", "auto"), right, 0.02);
  EXPECT_NEAR(probability("m8", "fp32"), right, 0.02);
  EXPECT_EQ(probability("m8", "auto"), probability("m8", "int8"));
}

TEST_F(CliInt8, ExportingAgainKeepsWholeNumbersUnlessAskedNotTo) {
  expect_done({"export", "m8", "--crop", "1", "--out", "again"});
  EXPECT_EQ(bench({"bench", "again"})["dtype"], "int8");
  expect_done({"export", "m8", "--dtype", "f32", "--out", "floats"});
  EXPECT_EQ(bench({"bench", "floats"})["dtype"], "fp32");
  EXPECT_EQ(Json::parse(expect_done({"info", "again", "--json"}).out)["dtype"], "I8");
}

TEST_F(CliInt8, EveryWayToChooseRangesGivesAModel) {
  for (const std::string ranges : {"max", "percentile", "mse"}) {
    const Json json = Json::parse(
        expect_done({"export", "m", "--dtype", "int8", "--calibrate", "photos", "--ranges", ranges,
                     "--calibrate-most", "4", "--out", ranges, "--json"})
            .out);
    EXPECT_EQ(json["dtype"], "I8");
    EXPECT_EQ(json["calibration"]["photographs"], 4);
    EXPECT_EQ(json["calibration"]["ranges"], ranges);
    EXPECT_EQ(bench({"bench", ranges})["dtype"], "int8");
  }
}

TEST_F(CliInt8, AModelWithoutScalesIsRefusedWithTheCommandToRun) {
  for (const std::string command : {"predict", "bench"}) {
    std::vector<std::string> arguments = {command, "m", "photos", "--dtype", "int8"};
    expect_error(arguments,
                 "m: has no scales to run in int8; 'sact export m --dtype int8 --calibrate "
                 "PHOTOGRAPHS --out FILE' makes a model that has");
  }
  expect_error({"export", "m", "--dtype", "int8", "--out", "x"}, "--calibrate");
  expect_error({"export", "m", "--dtype", "f16", "--calibrate", "photos", "--out", "x"},
               "--dtype int8", 2);
  expect_error({"export", "m", "--dtype", "int8", "--calibrate", "nowhere", "--out", "x"},
               "nowhere");
}

TEST_F(CliInt8, DetectorsAreNotRunInWholeNumbers) {
  expect_done(
      {"new", "--units", "1,1", "--width", "4", "--classes", "3", "--detect", "--out", "d"});
  expect_error({"detect", "d", "photos", "--no-pictures", "--dtype", "int8"},
               "detectors run in fp32 or bf16, not in int8");
  expect_error({"export", "d", "--dtype", "int8", "--calibrate", "photos", "--out", "x"},
               "is a detector");
}

}  // namespace
}  // namespace sact
