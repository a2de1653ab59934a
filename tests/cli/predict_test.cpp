// sact predict, run as a program.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "data/synthetic.h"
#include "io/image.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliPredict : public ::testing::Test {
 protected:
  void SetUp() override {
    make_model("m", {"--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.1"});
    data::SyntheticOptions options;
    options.width = 80;
    options.height = 60;
    std::filesystem::create_directories(directory_ / "photos/more");
    io::write_image(directory_ / "photos/a.png", data::synthetic_sample(options, 0).image);
    io::write_image(directory_ / "photos/b.jpg", data::synthetic_sample(options, 1).image);
    io::write_image(directory_ / "photos/more/a.png", data::synthetic_sample(options, 2).image);
  }

  void make_model(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"new", "--units",      "2,3", "--width", "4", "--classes",
                                          "7",   "--input-size", "64",  "--out",   name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto made = run_sact(arguments, directory_.path());
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Finished predict(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "predict");
    return run_sact(arguments, directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliPredict, WritesAPictureAndARowForEveryImage) {
  const auto finished = predict({"m", "photos", "--out", "maps"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const char* name : {"a.png", "b.jpg", "more/a.png"}) {
    const auto path = directory_ / ("maps/" + std::string(name) + ".ponder.png");
    const io::RgbImage picture = io::read_image(path);
    EXPECT_GT(picture.width, 600);
    EXPECT_GT(picture.height, 400);
  }
  std::istringstream lines(finished.out);
  std::vector<std::string> table(5);
  for (std::string& line : table) std::getline(lines, line);
  EXPECT_EQ(table[0].substr(0, 5), "image");
  EXPECT_EQ(table[0].substr(table[0].size() - 2), "ms");
  for (const std::string& line : table) EXPECT_EQ(line.size(), table[0].size()) << finished.out;
  for (size_t i = 0; i < 3; ++i) {
    const char* paths[] = {"photos/a.png ", "photos/b.jpg ", "photos/more/a.png "};
    EXPECT_EQ(table[2 + i].find(paths[i]), 0u) << finished.out;
  }
  EXPECT_NE(finished.out.find("3 images in"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("maps/overview.png"), std::string::npos) << finished.out;
  EXPECT_GT(io::read_image(directory_ / "maps/overview.png").width, 400);
}

TEST_F(CliPredict, BFloat16GivesNearlyTheSameLogits) {
  make_model("plain", {});
  std::vector<float> logits[2];
  for (const size_t i : {0, 1}) {
    const auto finished = predict(
        {"plain", "photos", "--no-pictures", "--raw", "raw", "--dtype", i == 0 ? "fp32" : "bf16"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const io::SafetensorsFile raw(directory_ / "raw");
    logits[i] = io::float_values(*raw.find("logits"), "logits");
  }
  ASSERT_EQ(logits[0].size(), size_t(3 * 7));
  double error = 0, norm = 0;
  for (size_t i = 0; i < logits[0].size(); ++i) {
    error += std::pow(logits[1][i] - logits[0][i], 2);
    norm += std::pow(logits[0][i], 2);
  }
  EXPECT_LT(std::sqrt(error / norm), 2e-2);
  EXPECT_GT(error, 0) << "bfloat16 was not used";
  EXPECT_EQ(predict({"plain", "photos", "--dtype", "fp4"}).status, 2);
  const auto refused = predict({"plain", "photos", "--dtype", "fp16"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("fp16"), std::string::npos) << refused.err;
}

TEST_F(CliPredict, VerboseSaysWhichKernelRanForEveryLayerAndWhy) {
  const auto run = [&](const std::vector<std::string>& environment) {
    const std::vector<std::string> arguments = {"predict",   "m", "photos",  "--no-pictures",
                                                "--threads", "2", "--dtype", "bf16"};
    return test::Running({SACT_PROGRAM, arguments, environment, directory_.path()}).wait();
  };
  const auto finished = run({"SACT_VERBOSE=1", "SACT_ISA=scalar"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (size_t at = finished.err.find(part); at != std::string::npos;
         at = finished.err.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  // Three images of one size: the first run tells.
  EXPECT_EQ(count("1 image of 64x64"), 1) << finished.err;
  EXPECT_EQ(count("stages.0.blocks.0.conv2: 256 rows, 9 x 4 to 4, scalar bf16, taps in registers "
                  "(below 1 KiB a tap), threads 2 x 1 (rows x columns: many rows), "),
            1)
      << finished.err;
  EXPECT_EQ(count("stages.0.blocks.0.halting: 256 rows, 9 x 16 to 1, scalar fp32, "), 1)
      << finished.err;
  EXPECT_EQ(count("head.fc: 1 rows, 32 to 7, scalar bf16, "), 1) << finished.err;
  EXPECT_EQ(run({}).err, "");
}

TEST_F(CliPredict, JsonHasTheDocumentedKeys) {
  const auto finished = predict({"m", "photos/a.png", "--json", "--top", "3"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json image = Json::parse(finished.out)["images"][0];
  EXPECT_EQ(image["path"], "photos/a.png");
  ASSERT_EQ(image["top"].size(), 3u);
  EXPECT_GE(image["top"][0]["score"], image["top"][1]["score"]);
  EXPECT_TRUE(image["top"][0].contains("class"));
  EXPECT_TRUE(image["top"][0].contains("label"));
  ASSERT_EQ(image["blocks"].size(), 2u);
  double sum = 0;
  for (size_t block = 0; block < 2; ++block) {
    const Json& row = image["blocks"][block];
    sum += row["ponder_cost"].get<double>();
    EXPECT_NEAR(row["active_fraction"].get<double>(), row["units"].get<double>() / (2.0 + block),
                1e-9);
  }
  EXPECT_NEAR(image["ponder_cost"].get<double>(), sum, 1e-9);
  EXPECT_GT(image["flops"], 0);
  EXPECT_GT(image["dense_flops"], 0);
  for (const char* stage : {"load", "preprocess", "network", "postprocess"}) {
    EXPECT_GE(image["ms"][stage].get<double>(), 0) << stage;
  }
  EXPECT_TRUE(std::filesystem::exists(directory_ / image["map"].get<std::string>()));
}

TEST_F(CliPredict, ABrokenImageIsReportedAndTheOthersGoOn) {
  std::ofstream(directory_ / "photos/broken.jpg") << "\xff\xd8\xff\xe0 nothing more";
  const auto finished = predict({"m", "photos", "missing.png", "--json"});
  EXPECT_EQ(finished.status, 1);
  const Json json = Json::parse(finished.out);
  ASSERT_EQ(json["images"].size(), 5u);
  EXPECT_EQ(json["failed"], 2);
  int errors = 0;
  for (const Json& image : json["images"]) errors += image.contains("error");
  EXPECT_EQ(errors, 2);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 2) << finished.err;
}

TEST_F(CliPredict, RawTensorsFromATensorEqualThoseImageByImage) {
  std::vector<float> values(size_t(3 * 3 * 40 * 56));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(std::sin(double(i) * 0.37));
  auto write = [&](const char* name, int64_t first, int64_t count) {
    const size_t each = 3 * 40 * 56;
    const std::span<const float> part(values.data() + size_t(first) * each, size_t(count) * each);
    const std::vector<io::NamedTensor> tensors = {
        {"image", {io::Dtype::kF32, {count, 3, 40, 56}, std::as_bytes(part)}}};
    io::write_safetensors(directory_ / name, tensors, {});
  };
  write("all", 0, 3);
  ASSERT_EQ(predict({"m", "--tensor", "all", "--raw", "raw", "--batch", "2"}).status, 0);
  const io::SafetensorsFile together(directory_ / "raw");
  EXPECT_EQ(together.find("logits")->shape, (io::Shape{3, 7}));
  EXPECT_EQ(together.find("ponder.0")->shape, (io::Shape{3, 10, 14}));
  EXPECT_EQ(together.find("units.1")->shape, (io::Shape{3, 5, 7}));
  EXPECT_EQ(together.find("units.1")->dtype, io::Dtype::kI64);
  const auto logits = io::float_values(*together.find("logits"), "");
  for (int64_t i = 0; i < 3; ++i) {
    write("one", i, 1);
    ASSERT_EQ(predict({"m", "--tensor", "one", "--raw", "raw1"}).status, 0);
    const auto alone =
        io::float_values(*io::SafetensorsFile(directory_ / "raw1").find("logits"), "");
    for (size_t c = 0; c < 7; ++c) EXPECT_NEAR(alone[c], logits[size_t(i) * 7 + c], 1e-4);
  }
}

TEST_F(CliPredict, WholeKeepsTheAspectRatio) {
  ASSERT_EQ(predict({"m", "photos/a.png", "--whole", "--size", "96", "--raw", "raw"}).status, 0);
  EXPECT_EQ(io::SafetensorsFile(directory_ / "raw").find("ponder.0")->shape,
            (io::Shape{1, 24, 32}));
}

TEST_F(CliPredict, RowsOfRawTensorsHaveTheirPathsBesideThem) {
  std::ofstream(directory_ / "photos/aa.jpg") << "\xff\xd8\xff\xe0 nothing more";
  EXPECT_EQ(predict({"m", "photos", "--raw", "raw", "--no-pictures"}).status, 1);
  const io::SafetensorsFile raw(directory_ / "raw");
  EXPECT_EQ(raw.find("logits")->shape, (io::Shape{3, 7}));
  EXPECT_EQ(Json::parse(raw.metadata().at("images")),
            Json({"photos/a.png", "photos/b.jpg", "photos/more/a.png"}));
}

TEST_F(CliPredict, RawTensorsOfSeveralSizesAreRefusedBeforeTheNetworkRuns) {
  data::SyntheticOptions options;
  options.width = 60;
  options.height = 80;
  io::write_image(directory_ / "photos/high.png", data::synthetic_sample(options, 3).image);
  const auto finished =
      predict({"m", "photos", "--whole", "--raw", "raw", "--size", "96", "--no-pictures"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.out, "") << "no image was run";
  EXPECT_NE(finished.err.find("photos/a.png would be run at 96x128 and photos/high.png at 128x96"),
            std::string::npos)
      << finished.err;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "raw"));
  EXPECT_EQ(predict({"m", "photos", "--raw", "raw", "--no-pictures"}).status, 0)
      << "central crops have one size";
}

TEST_F(CliPredict, PlainNetworksSpendEverythingEverywhere) {
  make_model("plain", {});
  const auto finished = predict({"plain", "photos/a.png", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json image = Json::parse(finished.out)["images"][0];
  EXPECT_EQ(image["flops"], image["dense_flops"]);
  EXPECT_EQ(image["ponder_cost"], 5.0);
}

TEST_F(CliPredict, MistakesGetOneLine) {
  auto expect = [&](std::vector<std::string> arguments, int status, const std::string& part) {
    const auto finished = predict(arguments);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  };
  expect({"m"}, 2, "--tensor");
  expect({"m", "photos/a.png", "--tensor", "x"}, 2, "--tensor");
  expect({"m", "photos/a.png", "--size", "8"}, 2, "8x8");
  expect({"m", "photos/a.png", "--threads", "0"}, 2, "threads");
  expect({"photos/a.png", "photos/a.png"}, 1, "a.png: is a picture");
  expect({"m", "--tensor", "m"}, 1, "'image'");
  expect({"m", "photos/a.png", "--out", "m/maps"}, 1, "m/maps");
  expect({"m", "photos/a.png", "--raw", "no/such/raw"}, 1, "no/such/raw");
  expect({"m", "photos", "--out", "photos"}, 1, "among the images");
  std::filesystem::copy_file(directory_ / "photos/a.png", directory_ / "photos/overview.png");
  expect({"m", "photos/overview.png", "photos/b.jpg", "--out", "photos"}, 1, "overwritten");
  const std::vector<float> flat(12, 0.0f);
  const std::vector<io::NamedTensor> tensors = {
      {"image", {io::Dtype::kF32, {12}, std::as_bytes(std::span(flat))}}};
  io::write_safetensors(directory_ / "flat", tensors, {});
  expect({"m", "--tensor", "flat"}, 1, "[N, 3, H, W]");
}

TEST_F(CliPredict, ModelsWithoutAllWeightsOrWithoutSenseAreRefused) {
  for (const char* spec :
       {"{\"units\":[2,4],\"width\":4,\"classes\":7}", "{\"units\":\"many\"}", "["}) {
    const io::SafetensorsFile good(directory_ / "m");
    std::vector<io::NamedTensor> tensors;
    for (const auto& [name, view] : good.tensors()) tensors.push_back({name, view});
    io::write_safetensors(directory_ / "bad", tensors, {{"sact", spec}});
    const auto finished = predict({"bad", "photos/a.png"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

}  // namespace
}  // namespace sact
