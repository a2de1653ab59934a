// sact eval, run as a program: on the engine, and compared with LibTorch.
#include <gtest/gtest.h>

#include <fstream>

#include "io/json.h"
#include "report/csv.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliEval : public ::testing::Test {
 protected:
  void SetUp() override {
    // Few positions: one whose score lies at the threshold halts here or there, by rounding.
    const auto made =
        run({"new", "--units", "3,3", "--width", "4", "--classes", "10", "--input-size", "32",
             "--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.3", "--out", "m"});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  /// An evaluation of the model on the synthetic set.
  test::Finished evaluate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "eval",    "m",  "--data",    "synthetic:size=40,count=1,val=50",
        "--batch", "16", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// An image folder "photos" with twelve readable images.
  void write_photos() {
    const auto made = run({"synth", "--out", "photos/val", "--count", "12", "--size", "40x60"});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  /// The model "labelled", whose classes have these names.
  void make_labelled(const std::vector<std::string>& labels) {
    std::ofstream file(directory_ / "labels");
    for (const std::string& label : labels) file << label << '\n';
    file.close();
    const auto made = run({"new", "--units", "2", "--width", "4", "--input-size", "32", "--labels",
                           "labels", "--out", "labelled"});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  std::vector<std::vector<std::string>> csv(const std::string& name) {
    std::ifstream file(directory_ / name);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    report::CsvParser parser(text, name);
    std::vector<std::vector<std::string>> rows(1);
    while (parser.next(rows.back())) rows.emplace_back();
    rows.pop_back();
    return rows;
  }

  void expect_error(const std::vector<std::string>& arguments, int status,
                    const std::string& part) {
    const test::Finished finished = run(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(finished.err.find('\n', finished.err.find("error: ")), finished.err.size() - 1)
        << finished.err;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliEval, JsonHasTheDocumentedKeys) {
  const auto finished = evaluate({"--size", "32,48", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  ASSERT_EQ(json["sizes"].size(), 2u);
  for (const Json& outcome : json["sizes"]) {
    EXPECT_EQ(outcome["images"], 50);
    EXPECT_GE(outcome["recall5"], outcome["accuracy"]);
    EXPECT_LT(outcome["flops"]["mean"], outcome["dense_flops"]);
    EXPECT_GT(outcome["flops"]["std"], 0);
    ASSERT_EQ(outcome["units"].size(), 2u);
    EXPECT_GT(outcome["images_per_second"], 0);
    EXPECT_GT(outcome["network_images_per_second"], outcome["images_per_second"]);
  }
}

TEST_F(CliEval, PredictionsOfAllImagesAddUpToTheResult) {
  write_photos();
  const auto finished = run({"eval", "m", "--data", "photos", "--predictions", "p.csv", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto rows = csv("p.csv");
  ASSERT_EQ(rows.size(), 13u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"path", "height", "width", "label", "class", "score",
                                               "flops"}));
  double flops = 0, correct = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / rows[i][0])) << rows[i][0];
    EXPECT_EQ(rows[i][1], "32");
    correct += rows[i][3] == rows[i][4];
    flops += std::stod(rows[i][6]);
  }
  const Json json = Json::parse(finished.out);
  EXPECT_NEAR(json["accuracy"].get<double>(), correct / 12, 1e-12);
  EXPECT_NEAR(json["flops"]["mean"].get<double>(), flops / 12, 1);
}

TEST_F(CliEval, BFloat16GivesNearlyTheSameScores) {
  std::vector<std::vector<std::string>> rows[2];
  for (const size_t i : {0, 1}) {
    const std::string dtype = i == 0 ? "fp32" : "bf16";
    const auto finished = evaluate({"--dtype", dtype, "--predictions", dtype + ".csv"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    rows[i] = csv(dtype + ".csv");
    ASSERT_EQ(rows[i].size(), 51u);
  }
  int alike = 0;
  for (size_t image = 1; image < 51; ++image) {
    alike += std::abs(std::stod(rows[0][image][5]) - std::stod(rows[1][image][5])) < 0.02;
  }
  EXPECT_GE(alike, 45);  // a position that halts elsewhere changes more
  EXPECT_NE(rows[0], rows[1]) << "bfloat16 was not used";
}

TEST_F(CliEval, ADamagedImageIsNamedAndTheOthersAreEvaluated) {
  write_photos();
  std::ofstream(directory_ / "photos/val/ring/damaged.jpg") << "\xff\xd8\xff\xe0 nothing more";
  const auto finished = run({"eval", "m", "--data", "photos", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["images"], 12);
  EXPECT_NE(finished.err.find("left out: photos/val/ring/damaged.jpg"), std::string::npos)
      << finished.err;
}

TEST_F(CliEval, FoldersAreMatchedWithLabelsByNameInEveryBackEnd) {
  write_photos();
  std::filesystem::rename(directory_ / "photos/val/ring", directory_ / "photos/val/n01440764");
  std::vector<std::string> labels = {"tench"};
  for (const auto& folder : std::filesystem::directory_iterator(directory_ / "photos/val")) {
    const std::string name = folder.path().filename();
    if (folder.is_directory() && name != "n01440764") labels.insert(labels.begin(), name);
  }
  labels.insert(labels.begin(), "of nothing here");
  make_labelled(labels);
#ifdef SACT_HAS_TORCH
  const std::vector<std::string> backends = {"engine", "torch"};
#else
  const std::vector<std::string> backends = {"engine"};
#endif
  for (const std::string& backend : backends) {
    const auto finished = run({"eval", "labelled", "--data", "photos", "--backend", backend,
                               "--predictions", "p.csv", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto rows = csv("p.csv");
    ASSERT_EQ(rows.size(), 13u);
    for (size_t i = 1; i < rows.size(); ++i) {
      std::string folder = std::filesystem::path(rows[i][0]).parent_path().filename();
      if (folder == "n01440764") folder = "tench";
      EXPECT_EQ(labels.at(size_t(std::stoi(rows[i][3]))), folder) << backend;
    }
  }
}

TEST_F(CliEval, FoldersOfOtherClassesAreRefusedWithBothNames) {
  write_photos();
  make_labelled({"cat", "dog"});
  expect_error({"eval", "labelled", "--data", "photos"}, 1,
               "none of the network's 2 (cat and dog)");
  std::filesystem::create_directories(directory_ / "few/val");
  std::filesystem::rename(directory_ / "photos/val/ring", directory_ / "few/val/ring");
  expect_error({"eval", "m", "--data", "few"}, 1,
               "it has 1 class, but the network has 10 and no labels");
}

TEST_F(CliEval, ANetworkWithoutLabelsIsSaidToBeMatchedByNumber) {
  write_photos();
  const auto finished = run({"eval", "m", "--data", "photos"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.err.find("has no labels"), std::string::npos) << finished.err;
}

TEST_F(CliEval, MistakesGetOneLine) {
  std::filesystem::create_directories(directory_ / "empty");
  expect_error({"eval", "m", "--data", "empty", "--split", ""}, 1, "no class directories");
  std::filesystem::create_directories(directory_ / "void/val/cat");
  expect_error({"eval", "m", "--data", "void"}, 1, "void/val/cat: no JPEG, PNG");
  std::filesystem::create_directories(directory_ / "broken/val/cat");
  std::ofstream(directory_ / "broken/val/cat/a.jpg") << "\xff\xd8\xff\xe0 nothing more";
  make_labelled({"dog", "cat"});
  expect_error({"eval", "labelled", "--data", "broken"}, 1, "none of the 1 image can be read");
  expect_error({"eval", "m", "--data", "synthetic", "--backend", "engine", "--device", "cuda"}, 1,
               "--device cuda");
  expect_error({"eval", "m", "--data", "synthetic", "--backend", "torch", "--dtype", "bf16"}, 1,
               "--dtype bf16");
  expect_error({"predict", "m", "x.png", "--backend", "torch", "--dtype", "bf16"}, 1,
               "--dtype bf16");
  for (const char* option : {"--csv", "--plot", "--predictions"}) {
    expect_error({"eval", "m", "--data", "synthetic", option, "no/such/file"}, 1, "no/such/file");
  }
}

TEST_F(CliEval, TheEngineDoesNotShareWorkWithOtherProcesses) {
  const auto run_among_two = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"eval", "m", "--data", "synthetic:count=1,val=4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::Running({SACT_PROGRAM, arguments, {"WORLD_SIZE=2", "RANK=0"}, directory_.path()})
        .wait();
  };
  const auto engine = run_among_two({"--backend", "engine"});
  EXPECT_EQ(engine.status, 1);
  EXPECT_NE(engine.err.find("--backend torch"), std::string::npos) << engine.err;
  const auto predictions = run_among_two({"--predictions", "p.csv"});
  EXPECT_EQ(predictions.status, 1);
  EXPECT_NE(predictions.err.find("--predictions"), std::string::npos) << predictions.err;
}

#ifdef SACT_HAS_TORCH

TEST_F(CliEval, TheEngineFindsWhatLibTorchFinds) {
  write_photos();
  for (const std::string data : {"synthetic:size=40,count=1,val=50", "photos"}) {
    SCOPED_TRACE(data);
    std::vector<Json> found;
    for (const std::string backend : {"engine", "torch"}) {
      const auto finished = run({"eval", "m", "--data", data, "--size", "32,48x56", "--backend",
                                 backend, "--predictions", backend + ".csv", "--json"});
      ASSERT_EQ(finished.status, 0) << finished.err;
      found.push_back(Json::parse(finished.out));
    }
    const auto expect_near = [](const Json& a, const Json& b) {
      EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-6 * b.get<double>());
    };
    for (size_t size = 0; size < 2; ++size) {
      const Json &engine = found[0]["sizes"][size], &torch = found[1]["sizes"][size];
      for (const char* key : {"height", "width", "accuracy", "recall5", "images", "dense_flops"}) {
        EXPECT_EQ(engine[key], torch[key]) << key;
      }
      for (const char* key : {"mean", "std"}) {
        expect_near(engine["flops"][key], torch["flops"][key]);
        for (size_t block = 0; block < 2; ++block) {
          expect_near(engine["units"][block][key], torch["units"][block][key]);
        }
      }
    }
    const auto engine = csv("engine.csv"), torch = csv("torch.csv");
    ASSERT_EQ(engine.size(), torch.size());
    for (size_t row = 1; row < engine.size(); ++row) {
      for (size_t column : {0, 1, 2, 3, 4, 6}) EXPECT_EQ(engine[row][column], torch[row][column]);
      EXPECT_NEAR(std::stod(engine[row][5]), std::stod(torch[row][5]), 1e-4);
    }
  }
}

#endif

}  // namespace
}  // namespace sact
