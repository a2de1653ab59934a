// sact eval, baseline and table, run as programs.
#include <gtest/gtest.h>

#include <fstream>

#include "io/json.h"
#include "io/safetensors.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliResults : public ::testing::Test {
 protected:
  void SetUp() override {
    make("plain", "none", "3,3");
    make("sact", "sact", "3,3");
    save("sact.json", result(0.70, {{32, 1.6, 2.4}, {64, 1.7, 2.6}}));
  }

  void make(const std::string& name, const std::string& halting, const std::string& units) {
    const auto made =
        run({"new", "--units", units, "--width", "4", "--classes", "10", "--stem", "small",
             "--unit", "basic", "--input-size", "32", "--halting", halting, "--out", name});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  struct AtSize {
    int side;
    double units1, units2;
  };

  static Json result(double accuracy, const std::vector<AtSize>& sizes) {
    Json json = {{"sizes", Json::array()}};
    for (const AtSize& at : sizes) {
      json["sizes"].push_back(
          {{"height", at.side},
           {"width", at.side},
           {"accuracy", accuracy},
           {"recall5", 0.9},
           {"images", 100},
           {"flops", {{"mean", 1e6 * at.side}, {"std", 2e4 * at.side}}},
           {"units", {{{"mean", at.units1}, {"std", 0.25}}, {{"mean", at.units2}, {"std", 0.5}}}}});
    }
    return json;
  }

  void save(const std::string& name, const Json& json) {
    std::ofstream(directory_ / name) << json.dump();
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  /// A mistake: one line, and nothing written.
  void expect_error(const std::vector<std::string>& arguments, int status,
                    const std::string& part) {
    const test::Finished finished = run(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
  }

  std::string text_of(const std::string& name) {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliResults, BaselineFromASavedResultHasTheRoundedUnits) {
  const auto made = run({"baseline", "sact", "--from", "plain", "--result", "sact.json", "--size",
                         "32", "--out", "b", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const Json json = Json::parse(made.out);
  EXPECT_EQ(json["spec"]["units"], Json({2, 2}));
  EXPECT_EQ(json["adaptive"]["units"][0]["mean"], 1.6);
  EXPECT_EQ(json["adaptive"]["units"][1]["mean"], 2.4);
  EXPECT_EQ(json["adaptive"]["flops"]["mean"], 32e6);
  EXPECT_EQ(json["flops"], Json::parse(run({"info", "b", "--json"}).out)["flops"]);
}

TEST_F(CliResults, BaselineKeepsTheWeightsOfThePlainNetwork) {
  const auto made = run({"baseline", "sact", "--from", "plain", "--result", "sact.json", "--size",
                         "64", "--out", "b"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("units 2, 3"), std::string::npos) << made.out;
  const io::SafetensorsFile plain(directory_ / "plain"), baseline(directory_ / "b");
  const std::string name = "stages.1.blocks.2.conv2.weight";
  EXPECT_EQ(io::float_values(*plain.find(name), name),
            io::float_values(*baseline.find(name), name));
  const Json info = Json::parse(run({"info", "b", "--json"}).out);
  EXPECT_EQ(info["spec"]["halting"], "none");
  EXPECT_EQ(info["spec"]["units"], Json({2, 3}));
}

TEST_F(CliResults, BaselineMistakesGetOneLine) {
  const std::vector<std::string> start = {"baseline", "sact", "--out", "out", "--from"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = start;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_error(with({"sact", "--result", "sact.json"}), 1, "halting none");
  expect_error(with({"plain"}), 1, "--data");
  expect_error(with({"plain", "--result", "sact.json"}), 1, "--size");
  expect_error(with({"plain", "--result", "sact.json", "--size", "96"}), 1, "32x32, 64x64");
  expect_error(with({"plain", "--result", "sact.json", "--data", "synthetic"}), 2, "--data");
  expect_error(with({"plain", "--result", "none.json"}), 1, "none.json");
  std::ofstream(directory_ / "cut.json") << "{\"sizes\": [";
  expect_error(with({"plain", "--result", "cut.json"}), 1, "JSON");
}

TEST_F(CliResults, TableOfSavedResults) {
  save("seed1.json", result(0.72, {{32, 1.5, 2.5}}));
  const auto made = run({"table", "SACT:0.01=sact.json", "SACT:0.01=seed1.json", "--markdown",
                         "--csv", "t.csv", "--plots", "plots"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("**32×32, 100 images**"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("71.00 ± 1.00"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("half the range"), std::string::npos) << made.out;
  EXPECT_NE(text_of("t.csv").find("SACT 0.01,SACT,0.01,64,64,1,100"), std::string::npos)
      << text_of("t.csv");
  for (const char* plot :
       {"flops-at-32x32", "flops-at-64x64", "resolution", "flops-of-resolutions"}) {
    EXPECT_NE(text_of("plots/" + std::string(plot) + ".svg").find("</svg>"), std::string::npos)
        << plot;
  }
  const Json json = Json::parse(run({"table", "--size", "64", "A=sact.json", "--json"}).out);
  ASSERT_EQ(json["tables"].size(), 1u);
  EXPECT_EQ(json["tables"][0]["height"], 64);
}

TEST_F(CliResults, TableMistakesGetOneLine) {
  expect_error({"table"}, 2, "NAME=FILE");
  expect_error({"table", "sact.json"}, 1, "NAME=FILE");
  expect_error({"table", "A=sact.json", "--size", "96"}, 1, "32x32, 64x64");
  expect_error({"table", "A=sact.json", "--plots", "out", "--plot-sizes", "96"}, 1, "96x96");
  expect_error({"table", "A=sact"}, 1, "--data");
  expect_error({"table", "A=none.json"}, 1, "none.json");
  Json lacking = result(0.5, {{32, 1, 2}});
  lacking["sizes"][0].erase("recall5");
  save("lacking.json", lacking);
  expect_error({"table", "A=lacking.json"}, 1, "recall5");
}

const std::vector<std::string> kData = {"--data", "synthetic:size=32,count=20,val=20", "--threads",
                                        "1"};

std::vector<std::string> on_data(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), kData.begin(), kData.end());
  return arguments;
}

TEST_F(CliResults, WhatEvalPrintsIsWhatTheOthersRead) {
  const auto evaluated = run(on_data({"eval", "sact", "--size", "32,48", "--json"}));
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const Json printed = Json::parse(evaluated.out);
  EXPECT_EQ(printed["model"], "sact");
  EXPECT_EQ(printed["spec"]["halting"], "sact");
  save("eval.json", printed);
  const auto saved = run({"table", "A=eval.json", "--json"});
  const auto now = run(on_data({"table", "A=sact", "--size", "32,48", "--json"}));
  ASSERT_EQ(now.status, 0) << now.err;
  EXPECT_EQ(Json::parse(saved.out), Json::parse(now.out));
  const auto from_saved =
      run({"baseline", "sact", "--from", "plain", "--result", "eval.json", "--out", "a", "--json"});
  ASSERT_EQ(from_saved.status, 0) << from_saved.err;
  const auto from_data =
      run(on_data({"baseline", "sact", "--from", "plain", "--out", "b", "--json"}));
  ASSERT_EQ(from_data.status, 0) << from_data.err;
  EXPECT_EQ(text_of("a"), text_of("b")) << "32 is the model's own size";
  const Json baseline = Json::parse(from_data.out);
  const Json plain_result = Json::parse(run(on_data({"eval", "b", "--json"})).out);
  EXPECT_EQ(plain_result["flops"]["mean"], baseline["flops"]);
}

}  // namespace
}  // namespace sact
