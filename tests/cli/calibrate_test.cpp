// sact calibrate, run as a program, and the budgets that other commands take from what it stores.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/shared_folder.h"
#include "io/json.h"

namespace sact {
namespace {

using io::Json;

class CliCalibrate : public test::SharedFolder<CliCalibrate> {
 protected:
  static void SetUpTestSuite() {
    open_folder();
    expect_done({"new", "--units", "3,5", "--width", "4", "--classes", "10", "--input-size", "40",
                 "--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.3", "--out",
                 "m"});
    expect_done({"new", "--units", "3,5", "--width", "4", "--classes", "10", "--input-size", "40",
                 "--out", "plain"});
    expect_done({"synth", "--out", "photos", "--count", "10", "--size", "50x60"});
    expect_done({"calibrate", "m", "--images", "photos", "--out", "dial", "--threads", "2"});
  }

  static Json json_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return Json::parse(expect_done(arguments).out);
  }

  static std::string content(const std::string& name) {
    std::ifstream file(folder() / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
};

TEST_F(CliCalibrate, TheCurveGoesFromTheLeastWorkToTheMostAndIsStored) {
  const Json dial = json_of({"info", "dial"})["dial"];
  EXPECT_EQ(dial["images"], 10);
  EXPECT_EQ(dial["height"], 40);
  ASSERT_GE(dial["points"].size(), 8u);
  const Json first = dial["points"].front(), last = dial["points"].back();
  EXPECT_GT(first["flops_share"]["mean"], 0.98);
  EXPECT_LT(first["shift"], 0);
  for (const double units : last["units"]) EXPECT_LT(units, 1.2);
  EXPECT_EQ(first["units"].size(), 2u);
  EXPECT_GE(first["agreement"], last["agreement"]);
  EXPECT_FALSE(first.contains("accuracy")) << "there were no labels";
  EXPECT_FALSE(json_of({"info", "m"}).contains("dial"));
  EXPECT_NE(expect_done({"info", "dial"}).out.find("dial: budgets from"), std::string::npos);
}

TEST_F(CliCalibrate, LabelsGiveAccuracyAndAnotherNetworkAnotherAgreement) {
  const Json json =
      json_of({"calibrate", "m", "--data", "synthetic:size=40,count=1,val=12", "--dense", "plain",
               "--shifts", "-1:1:3,4", "--count", "8", "--plot", "curve.svg"});
  ASSERT_EQ(json["points"].size(), 4u);
  EXPECT_EQ(json["points"][3]["shift"], 4);
  EXPECT_EQ(json["images"], 8);
  for (const Json& point : json["points"]) {
    EXPECT_TRUE(point.contains("accuracy"));
    EXPECT_TRUE(point.contains("dense_agreement"));
  }
  EXPECT_NE(content("curve.svg").find("accuracy"), std::string::npos);
}

TEST_F(CliCalibrate, ABudgetIsReachedInEveryCommandThatRunsImages) {
  const Json predicted =
      json_of({"predict", "dial", "photos", "--no-pictures", "--budget", "0.85", "--threads", "2"});
  EXPECT_EQ(predicted["dial"]["budget"], 0.85);
  EXPECT_NEAR(predicted["dial"]["flops_share"], 0.85, 0.05);
  const double shift = predicted["dial"]["shift"];
  const Json shifted = json_of({"predict", "m", "photos", "--no-pictures", "--halting-shift",
                                fmt::format("{}", shift), "--threads", "2"});
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(shifted["images"][i]["flops"], predicted["images"][i]["flops"]);
  }
  const std::vector<std::string> data = {"--data", "synthetic:size=40,count=1,val=8"};
  const Json evaluated = json_of({"eval", "dial", data[0], data[1], "--budget", "0.85"});
  EXPECT_EQ(evaluated["dial"]["shift"], shift);
  EXPECT_LT(evaluated["dial"]["flops_share"], 0.95);
  const Json timed =
      json_of({"bench", "dial", "photos", "--budget", "0.85", "--rounds", "1", "--threads", "1"});
  EXPECT_EQ(timed["dial"]["shift"], shift);
#ifdef SACT_HAS_TORCH
  const Json torch = json_of(
      {"predict", "dial", "photos", "--no-pictures", "--budget", "0.85", "--backend", "torch"});
  EXPECT_NEAR(torch["dial"]["flops_share"], predicted["dial"]["flops_share"], 0.01);
#endif
  EXPECT_NE(expect_done({"predict", "dial", "photos", "--no-pictures", "--budget", "0.85"})
                .out.find(" for a budget of 0.85"),
            std::string::npos);
}

TEST_F(CliCalibrate, AHardBudgetHoldsForEveryImage) {
  for (const char* backend : {"engine", "torch"}) {
#ifndef SACT_HAS_TORCH
    if (std::string(backend) == "torch") continue;
#endif
    const Json json = json_of({"predict", "m", "photos", "--no-pictures", "--hard-budget", "0.85",
                               "--halting-shift", "-1", "--backend", backend});
    for (const Json& image : json["images"]) {
      EXPECT_LE(image["flops"].get<double>(), 0.85 * image["dense_flops"].get<double>());
      EXPECT_GT(image["flops"].get<double>(), 0.75 * image["dense_flops"].get<double>());
    }
  }
}

TEST_F(CliCalibrate, WithoutTheOptionsNothingIsSaidOfADial) {
  EXPECT_FALSE(json_of({"predict", "dial", "photos", "--no-pictures"}).contains("dial"));
}

TEST_F(CliCalibrate, MistakesAreALine) {
  expect_error({"predict", "m", "photos", "--no-pictures", "--budget", "0.6"},
               "--budget 0.6: m has no curve that says which shift gives it; 'sact calibrate m ");
  expect_error({"predict", "dial", "photos", "--no-pictures", "--budget", "0.05"},
               "--budget 0.05: the curve of dial goes from ");
  expect_error({"predict", "plain", "photos", "--no-pictures", "--halting-shift", "1"},
               "--halting-shift: plain is a plain network, which never halts");
  expect_error({"predict", "m", "photos", "--no-pictures", "--hard-budget", "0.01"},
               "a hard budget of 0.01 of the dense network's FLOPs is too small");
  expect_error({"predict", "dial", "photos", "--budget", "0.6", "--halting-shift", "1"},
               "give --halting-shift or --budget, not both");
  expect_error({"calibrate", "plain", "--images", "photos"}, "there is nothing to calibrate");
  expect_error({"calibrate", "m", "--images", "photos", "--shifts", "1,x"}, "'x' is no number");
  expect_error({"calibrate", "m", "--images", "photos", "--shifts", "0:1"}, "FIRST:LAST:COUNT");
  expect_error({"bench", "m", "--halting-shift", "1"}, "need images");
  EXPECT_EQ(run({"calibrate", "m"}).status, 2);
}

TEST_F(CliCalibrate, TheModelItselfMayGetTheCurveAndKeepsItWhenExported) {
  std::filesystem::copy_file(folder() / "m", folder() / "own");
  expect_done({"calibrate", "own", "--images", "photos", "--shifts=-1,1", "--out", "own"});
  EXPECT_EQ(json_of({"info", "own"})["dial"]["points"].size(), 2u);
  expect_done({"export", "own", "--dtype", "bf16", "--out", "half"});
  EXPECT_TRUE(json_of({"info", "half"}).contains("dial"));
  expect_done({"export", "own", "--crop", "1", "--out", "other"});
  EXPECT_FALSE(json_of({"info", "other"}).contains("dial")) << "it sees other images now";
}

TEST_F(CliCalibrate, AnInputIsNotOverwritten) {
  expect_error({"calibrate", "m", "--images", "photos", "--plot", "m"}, "--plot");
}

}  // namespace
}  // namespace sact
