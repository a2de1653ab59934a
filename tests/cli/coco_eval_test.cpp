// sact coco-eval, run as a program.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "io/json.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;

class CliCocoEval : public testing::Test {
 protected:
  CliCocoEval() {
    write("gt.json", R"({"images": [{"id": 1}, {"id": 2}],
      "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [0, 0, 40, 40],
                       "area": 1600, "iscrowd": 0},
                      {"id": 2, "image_id": 2, "category_id": 3, "bbox": [5, 5, 100, 100],
                       "area": 10000, "iscrowd": 0}],
      "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": "dog"}]})");
    write("dt.json", R"([
      {"image_id": 1, "category_id": 3, "bbox": [0, 0, 40, 40], "score": 0.9},
      {"image_id": 2, "category_id": 3, "bbox": [300, 5, 100, 100], "score": 0.8},
      {"image_id": 2, "category_id": 3, "bbox": [5, 5, 100, 100], "score": 0.7}])");
  }
  void write(const std::string& name, std::string_view text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  test::Finished eval(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"coco-eval", "--gt", "gt.json", "--dt", "dt.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_sact(arguments, directory_.path());
  }
  void expect_error(const std::string& message) {
    const test::Finished finished = eval({"--json"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err, "sact: error: " + message + "\n");
  }
  test::TemporaryDirectory directory_;
};

TEST_F(CliCocoEval, JsonHasAllNumbers) {
  const test::Finished finished = eval({"--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const Json json = Json::parse(finished.out);
  const double expected = (51 + 50 * 2.0 / 3) / 101;  // right, wrong, right
  EXPECT_NEAR(json.at("AP").get<double>(), expected, 1e-12);
  EXPECT_NEAR(json.at("AP50").get<double>(), expected, 1e-12);
  EXPECT_EQ(json.at("APs"), -1.0);
  EXPECT_NEAR(json.at("APm").get<double>(), 1, 1e-12);
  EXPECT_NEAR(json.at("APl").get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(json.at("AR1").get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(json.at("AR10").get<double>(), 1, 1e-12);
  EXPECT_EQ(json.at("images"), 2);
  EXPECT_EQ(json.at("detections"), 3);
  EXPECT_EQ(json.at("objects"), 2);
  ASSERT_EQ(json.at("per_category").size(), 2u);
  EXPECT_EQ(json.at("per_category")[0].at("category"), "cat");
  EXPECT_EQ(json.at("per_category")[1].at("AP"), -1.0);
  EXPECT_GE(json.at("seconds").get<double>(), 0);
}

TEST_F(CliCocoEval, TextIsTheUsualSummary) {
  const test::Finished finished = eval();
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(
      finished.out.find(
          " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.835\n"),
      std::string::npos)
      << finished.out;
  EXPECT_NE(finished.out.find("cat"), std::string::npos);
  EXPECT_EQ(finished.out.find("dog"), std::string::npos);  // nothing to find
  EXPECT_NE(finished.out.find("3 detections in 2 images"), std::string::npos);
}

TEST_F(CliCocoEval, ResultsMayBeEmpty) {
  write("dt.json", "[]");
  const test::Finished finished = eval({"--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out).at("AP"), 0.0);
}

TEST_F(CliCocoEval, WrongFilesAreOneLine) {
  write("dt.json", R"([{"image_id": 9, "category_id": 3, "bbox": [0, 0, 4, 4], "score": 1}])");
  expect_error("dt.json: [0]: 'image_id' is 9, but gt.json has no such image");
  write("dt.json", R"([{"image_id": 1, "category_id": 9, "bbox": [0, 0, 4, 4], "score": 1}])");
  expect_error("dt.json: [0]: 'category_id' is 9, but gt.json has no such category");
  write("dt.json", R"([{"image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4], "score": "x"}])");
  expect_error("dt.json: [0]: 'score' must be a number; it is the text 'x'");
  write("dt.json", R"([{"image_id": 1, "category_id": 3, "bbox": [0, 0, 4)");
  expect_error("dt.json: is not valid JSON: it ends too early in [0]");
  write("dt.json", "");
  expect_error("dt.json: is not valid JSON: it ends too early");
  write("dt.json", R"({"images": []})");
  expect_error("dt.json: must be a list of objects");
  write("gt.json", "[]");
  expect_error("gt.json: must be an object with lists");
  std::filesystem::remove(directory_ / "gt.json");
  expect_error("gt.json: cannot be opened: No such file or directory");
}

TEST_F(CliCocoEval, BothFilesMustBeNamed) {
  const test::Finished finished = test::run_sact({"coco-eval", "--gt", "gt.json"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

}  // namespace
}  // namespace sact
