// sact bench, run as a program. Times are whatever they are; what is said of them must hold.
#include <gtest/gtest.h>

#include <fstream>

#include "base/size.h"
#include "io/json.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliBench : public ::testing::Test {
 protected:
  void SetUp() override {
    make_model("adaptive", {"--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.3"});
    make_model("plain", {});
  }

  void make_model(const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"new",          "--units", "2,3",   "--width", "4",
                                          "--input-size", "64",      "--out", name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto made = run_sact(arguments, directory_.path());
    ASSERT_EQ(made.status, 0) << made.err;
  }

  /// A program that says it takes 2.5 ms for an image of $1 x $1.
  void write_peer() {
    std::ofstream(directory_ / "peer.sh") << R"(
    echo "{\"runtime\": \"a script\", \"height\": $1, \"width\": $1, \"batch\": 1}"
    while read word count && [ "$word" = run ]; do echo '[2.5]'; done)";
  }

  test::Finished bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "--rounds", "2", "--threads", "2"});
    return run_sact(arguments, directory_.path());
  }

  void expect_error(const std::vector<std::string>& arguments, int status,
                    const std::string& part) {
    const test::Finished finished = bench(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(finished.err.find('\n', finished.err.find("error: ")), finished.err.size() - 1)
        << finished.err;
  }

  /// What every row says of itself.
  static void expect_sound(const Json& row) {
    EXPECT_EQ(row["device"], "cpu");
    EXPECT_EQ(row["threads"], 2);
    for (const char* key : {"median", "p10", "p90"}) EXPECT_GT(row["ms"][key], 0) << key;
    EXPECT_LE(row["ms"]["p10"], row["ms"]["median"]);
    EXPECT_LE(row["ms"]["median"], row["ms"]["p90"]);
    const double ms = row["ms"]["median"], gflop = row["gflop"];
    const double theoretical = row["theoretical_speedup"], speedup = row["speedup"];
    EXPECT_GT(gflop, 0);
    EXPECT_NEAR(row["gflops_per_second"].get<double>(), gflop / ms * 1e3, 1e-6 * gflop / ms * 1e3);
    EXPECT_GT(row["dense_ms"], 0);
    EXPECT_NEAR(row["realised"].get<double>(), speedup / theoretical, 1e-9);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliBench, JsonHasTheDocumentedKeys) {
  const auto finished = bench({"adaptive", "--size", "64,48x80", "--batch", "1,2", "--dtype",
                               "fp32,bf16", "--density", "0.25,1", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json rows = Json::parse(finished.out)["rows"];
  ASSERT_EQ(rows.size(), size_t(2 * 2 * 2 * 3));  // sizes, types, batches; dense and densities
  size_t next = 0;
  for (const Size size : {Size{64, 64}, Size{48, 80}}) {
    for (const std::string dtype : {"fp32", "bf16"}) {
      for (const int batch : {1, 2}) {
        for (const double density : {0.0, 0.25, 1.0}) {  // 0: the dense network
          const Json& row = rows[next++];
          expect_sound(row);
          EXPECT_EQ(row["model"], "adaptive");
          EXPECT_EQ(row["height"], size.height);
          EXPECT_EQ(row["width"], size.width);
          EXPECT_EQ(row["dtype"], dtype);
          EXPECT_EQ(row["batch"], batch);
          EXPECT_EQ(row["what"], density == 0 ? "dense" : "adaptive");
          EXPECT_EQ(row["density"], density == 0 ? 1 : density);
          EXPECT_EQ(row["runs"], 2);
          EXPECT_FALSE(row["isa"].get<std::string>().empty());
          EXPECT_FALSE(row["kernels_because"].get<std::string>().empty());
          // bf16 runs in fp32 where that is faster.
          EXPECT_TRUE(row["kernel_dtype"] == dtype || row["kernel_dtype"] == "fp32");
          EXPECT_GT(row["of_peak"], 0);
          const double theoretical = row["theoretical_speedup"];
          if (density == 0) {
            EXPECT_EQ(theoretical, 1);
            EXPECT_EQ(row["speedup"], 1);
          }
          if (density == 0.25) {
            EXPECT_GT(theoretical, 1.05);
          }
          if (density == 1) {
            EXPECT_LT(theoretical, 1);  // halting scores come on top
          }
        }
      }
    }
  }
}

TEST_F(CliBench, APlainModelIsMeasuredWithFreshHalting) {
  const auto finished = bench({"plain", "--density", "0.5", "--csv", "rows.csv", "--layers"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const char* part : {"stages.0.blocks.0.conv2", "9 x 4 to 4", "dense", "adaptive", "0.50",
                           "fp32: ", "kernels, ", "2 threads; medians", "wrote rows.csv"}) {
    EXPECT_NE(finished.out.find(part), std::string::npos) << part << "\n" << finished.out;
  }
  std::ifstream file(directory_ / "rows.csv");
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  EXPECT_EQ(lines, 3);  // header, dense, adaptive
}

TEST_F(CliBench, LayersAreInTheJsonToo) {
  const auto finished = bench({"plain", "--density", "1", "--layers", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json layers = Json::parse(finished.out)["per_layer"];
  ASSERT_EQ(layers.size(), size_t(1 + 5 * 3 + 2 + 1));  // stem, units, shortcuts, head
  EXPECT_EQ(layers[0]["name"], "stem.conv");
  EXPECT_EQ(layers[0]["rows"], 32 * 32);
  for (const Json& layer : layers) {
    EXPECT_GT(layer["rows"], 0);
    EXPECT_GT(layer["gflops_per_second"], 0);
    EXPECT_EQ(layer["threads"]["rows"].get<int>() * layer["threads"]["columns"].get<int>(), 2);
  }
}

TEST_F(CliBench, ImagesDecideForThemselves) {
  const auto made =
      run_sact({"synth", "--out", "photos", "--count", "4", "--size", "70x70"}, directory_.path());
  ASSERT_EQ(made.status, 0) << made.err;
  const auto finished = bench({"adaptive", "photos", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json rows = Json::parse(finished.out)["rows"];
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) {
    expect_sound(row);
    EXPECT_EQ(row["runs"], 4);
  }
  EXPECT_EQ(rows[0]["what"], "dense");
  EXPECT_EQ(rows[1]["what"], "adaptive");
  EXPECT_GT(rows[1]["theoretical_speedup"], 1);
}

TEST_F(CliBench, FewImagesAreRunSeveralTimes) {
  const auto made =
      run_sact({"synth", "--out", "photos", "--count", "2", "--size", "70x70"}, directory_.path());
  ASSERT_EQ(made.status, 0) << made.err;
  const auto finished =
      run_sact({"bench", "adaptive", "photos", "--rounds", "5", "--json"}, directory_.path());
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const Json& row : Json::parse(finished.out)["rows"]) EXPECT_EQ(row["runs"], 6);
}

TEST_F(CliBench, ImagesRunInBatchesBesidePeers) {
  const auto made =
      run_sact({"synth", "--out", "photos", "--count", "3", "--size", "70x70"}, directory_.path());
  ASSERT_EQ(made.status, 0) << made.err;
  std::ofstream(directory_ / "two.sh")
      << R"(echo '{"batch": 2}'; while read word count; do echo '[2.5]'; done)";
  const auto finished =
      bench({"adaptive", "photos", "--batch", "2", "--peer", "sh two.sh", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json rows = Json::parse(finished.out)["rows"];
  ASSERT_EQ(rows.size(), 3u);
  for (const Json& row : rows) {
    expect_sound(row);
    EXPECT_EQ(row["batch"], 2);
    EXPECT_EQ(row["runs"].get<int>() % 2, 0);  // two batches, the second with the first image again
  }
  EXPECT_EQ(rows[2]["ms"]["median"], 2.5);
  EXPECT_EQ(rows[2]["gflop"], rows[0]["gflop"]);
  const auto single = bench({"adaptive", "photos", "--json"});
  ASSERT_EQ(single.status, 0) << single.err;
  EXPECT_DOUBLE_EQ(rows[0]["gflop"].get<double>(),
                   2 * Json::parse(single.out)["rows"][0]["gflop"].get<double>());
}

TEST_F(CliBench, TheTableLeavesOutWhatAllRowsShare) {
  const auto one = bench({"adaptive", "--density", "0.5"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out.find("dtype"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("1 image of 64x64 in fp32"), std::string::npos) << one.out;
  const auto two = bench({"adaptive", "--density", "0.5", "--dtype", "fp32,bf16"});
  ASSERT_EQ(two.status, 0) << two.err;
  EXPECT_NE(two.out.find("dtype"), std::string::npos) << two.out;
}

TEST_F(CliBench, APeerTakesItsTurns) {
  write_peer();
  const auto finished = bench({"plain", "--density", "1", "--peer", "sh peer.sh 64", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json rows = Json::parse(finished.out)["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2]["what"], "a script");
  EXPECT_EQ(rows[2]["ms"]["median"], 2.5);
  EXPECT_EQ(rows[2]["gflop"], rows[0]["gflop"]);
  expect_error({"plain", "--peer", "sh peer.sh 96"}, 1, "runs 1 image of 96x96");
  std::ofstream(directory_ / "odd.sh") << R"(echo '{"runtime": 7, "height": "tall"}'; read line)";
  expect_error({"plain", "--peer", "sh odd.sh"}, 1, "'sh odd.sh'");
}

TEST_F(CliBench, PeersAreMeasuredBesideTheirOwnTypeWhichIsSaidOnce) {
  write_peer();
  const auto finished = bench({"plain", "--density", "1", "--batch", "1,1", "--dtype", "fp32,bf16",
                               "--peer", "sh peer.sh 64", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["rows"].size(), size_t(2 * 3 + 2 * 2));
  const std::string remark = "'sh peer.sh 64' runs in fp32: it is not measured beside bf16\n";
  const size_t said = finished.err.find(remark);
  ASSERT_NE(said, std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find(remark, said + 1), std::string::npos) << finished.err;
  std::ofstream(directory_ / "half.sh")
      << R"(echo '{"dtype": "bf16"}'; while read word count; do echo '[2.5]'; done)";
  const auto beside =
      bench({"plain", "--density", "1", "--dtype", "bf16", "--peer", "sh half.sh", "--json"});
  ASSERT_EQ(beside.status, 0) << beside.err;
  EXPECT_EQ(Json::parse(beside.out)["rows"].size(), 3u);
}

TEST_F(CliBench, MistakesGetOneLine) {
  ASSERT_EQ(run_sact({"synth", "--out", "photos", "--count", "1"}, directory_.path()).status, 0);
  expect_error({"plain", "photos"}, 1, "plain: is a plain network");
  expect_error({"adaptive", "nothing-here"}, 1, "nothing-here");
  expect_error({"plain", "--csv", "no/such/file"}, 1, "no/such/file");
  expect_error({"plain", "--peer", "./no-such-program"}, 1, "'./no-such-program' ended");
  expect_error({"plain", "--device", "tpu"}, 2, "--device");
  expect_error({"plain", "--size", "8"}, 2, "8x8");
  for (const auto& [option, value] :
       {std::pair{"--density", "2"}, {"--dtype", "fp4"}, {"--rounds", "0"}, {"--batch", "0"}}) {
    const auto finished = bench({"plain", option, value});
    EXPECT_EQ(finished.status, 2) << option;
    EXPECT_NE(finished.err.find(option), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find(value), std::string::npos) << finished.err;
  }
}

}  // namespace
}  // namespace sact
