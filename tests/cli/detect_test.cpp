// sact detect, run as a program.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/file.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "io/json.h"
#include "support/program.h"
#include "support/small_detector.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

class CliDetect : public ::testing::Test {
 protected:
  void SetUp() override {
    write("spec.json", test::kSmallDetector);
    run({"new", "--spec", "spec.json", "--halting-bias", "-1", "--halting-scale", "0.1", "--out",
         "m"});
    data::SyntheticOptions options;
    options.width = 80;
    options.height = 60;
    std::filesystem::create_directories(directory_ / "photos/more");
    io::write_image(directory_ / "photos/a.png", data::synthetic_sample(options, 0).image);
    io::write_image(directory_ / "photos/b.jpg", data::synthetic_sample(options, 1).image);
    io::write_image(directory_ / "photos/more/a.png", data::synthetic_sample(options, 2).image);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }

  std::string run(const std::vector<std::string>& arguments, int status = 0) {
    const auto finished = run_sact(arguments, directory_.path());
    EXPECT_EQ(finished.status, status) << finished.err;
    return status == 0 ? finished.out : finished.err;
  }

  /// The one line of a mistake.
  std::string error(const std::vector<std::string>& arguments, int status = 1) {
    const auto finished = run_sact(arguments, directory_.path());
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

  Json read_json(const std::string& name) {
    std::ifstream file(directory_ / name);
    return Json::parse(file);
  }

  void write_truth() {
    write("gt.json", R"({"categories": [{"id": 17, "name": "dog"}, {"id": 3, "name": "cat"},
                                        {"id": 9, "name": "bus"}],
                         "images": [{"id": 42, "file_name": "b.jpg", "height": 60, "width": 80},
                                    {"id": 7, "file_name": "a.png", "height": 60, "width": 80}],
                         "annotations": [{"id": 1, "image_id": 42, "category_id": 17,
                                          "bbox": [10, 10, 30, 30], "area": 900, "iscrowd": 0}]})");
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliDetect, WritesAPictureAndARowForEveryImage) {
  const std::string out = run({"detect", "m", "photos", "--out", "found"});
  for (const char* name : {"a.png", "b.jpg", "more/a.png"}) {
    const io::RgbImage picture =
        io::read_image(directory_ / ("found/" + std::string(name) + ".detections.png"));
    EXPECT_GT(picture.width, 900);
    EXPECT_GT(picture.height, 400);
  }
  std::istringstream lines(out);
  std::vector<std::string> table(5);
  for (std::string& line : table) std::getline(lines, line);
  EXPECT_EQ(table[0].substr(0, 5), "image");
  for (const std::string& line : table) EXPECT_EQ(line.size(), table[0].size()) << out;
  EXPECT_EQ(table[2].find("photos/a.png "), 0u) << out;
  EXPECT_NE(out.find("3 images in"), std::string::npos) << out;
  EXPECT_NE(out.find("% of the dense extractor's work"), std::string::npos) << out;
  EXPECT_NE(out.find("milliseconds an image: load "), std::string::npos) << out;
}

TEST_F(CliDetect, JsonHasTheDocumentedKeys) {
  const Json json = Json::parse(run({"detect", "m", "photos", "--no-pictures", "--json", "--score",
                                     "0.2", "--max", "4", "--threads", "2"}));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "detections"));
  EXPECT_EQ(json["model"], "m");
  EXPECT_EQ(json["failed"], 0);
  ASSERT_EQ(json["images"].size(), 3u);
  size_t found = 0;
  for (const Json& image : json["images"]) {
    EXPECT_EQ(image["height"], 60);
    EXPECT_EQ(image["width"], 80);
    EXPECT_EQ(image["scaled_height"], 64);
    EXPECT_EQ(image["scaled_width"], 85);
    EXPECT_LE(image["proposals"], 20);
    EXPECT_GT(image["flops"], 0);
    EXPECT_GT(image["dense_flops"], 0);
    EXPECT_GT(image["dense_box_flops"], 0);
    EXPECT_EQ(image["blocks"].size(), 2u);
    EXPECT_TRUE(image["map"].is_null());
    for (const char* stage :
         {"load", "scale", "extractor", "proposals", "crops", "boxes", "rest"}) {
      EXPECT_GT(image["ms"][stage], 0) << stage;
    }
    EXPECT_LE(image["detections"].size(), 4u);
    for (const Json& detection : image["detections"]) {
      ++found;
      EXPECT_GE(detection["score"], 0.2);
      const int category = detection["category_id"];
      const char* labels[] = {"cat", "dog", "car"};
      ASSERT_TRUE(category >= 1 && category <= 3);
      EXPECT_EQ(detection["label"], labels[category - 1]);
      const std::vector<double> box = detection["bbox"];
      ASSERT_EQ(box.size(), 4u);
      EXPECT_GE(box[0], 0);
      EXPECT_GE(box[1], 0);
      EXPECT_LE(box[0] + box[2], 80.001);
      EXPECT_LE(box[1] + box[3], 60.001);
    }
  }
  EXPECT_GT(found, 0u);
}

TEST_F(CliDetect, JsonHasTheMeansOverAllImages) {
  const Json json = Json::parse(run({"detect", "m", "photos", "--no-pictures", "--json"}));
  ASSERT_EQ(json["images"].size(), 3u);
  size_t objects = 0;
  double flops = 0, crops = 0;
  for (const Json& image : json["images"]) {
    objects += image["detections"].size();
    flops += image["flops"].get<double>() / 3;
    crops += image["ms"]["crops"].get<double>() / 3;
  }
  EXPECT_EQ(json["detections"], objects);
  EXPECT_NEAR(json["flops"].get<double>(), flops, 1);
  EXPECT_GE(json["dense_flops"].get<double>() * 1.1, flops);
  EXPECT_NEAR(json["ms"]["crops"].get<double>(), crops, 1e-6);
  EXPECT_EQ(json["ms"].size(), json["images"][0]["ms"].size());
}

TEST_F(CliDetect, ResultsHaveTheIdsOfTheAnnotations) {
  run({"detect", "m", "photos/a.png", "photos/b.jpg", "--no-pictures", "--results", "own.json"});
  const Json own = read_json("own.json");
  ASSERT_GT(own.size(), 0u);
  std::set<int64_t> images;
  for (const Json& entry : own) {
    EXPECT_EQ(entry.size(), 4u);
    images.insert(entry["image_id"].get<int64_t>());
    EXPECT_GE(entry["category_id"], 1);
    EXPECT_LE(entry["category_id"], 3);
  }
  EXPECT_EQ(images, (std::set<int64_t>{1, 2}));

  write_truth();
  const auto finished = run_sact({"detect", "m", "photos/a.png", "photos/b.jpg", "--no-pictures",
                                  "--results", "r.json", "--gt", "gt.json"},
                                 directory_.path());
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.err.find("no category for 1 class of the model ('car')"), std::string::npos)
      << finished.err;
  images.clear();
  for (const Json& entry : read_json("r.json")) {
    images.insert(entry["image_id"].get<int64_t>());
    EXPECT_TRUE(entry["category_id"] == 17 || entry["category_id"] == 3) << entry;
  }
  EXPECT_EQ(images, (std::set<int64_t>{7, 42}));

  // An image that the annotations do not have fails; the others do not.
  const std::string failure = run({"detect", "m", "photos", "--no-pictures", "--gt", "gt.json"}, 0);
  EXPECT_NE(failure.find("3 images"), std::string::npos);  // two files share a name that is there
  std::filesystem::rename(directory_ / "photos/more/a.png", directory_ / "photos/more/z.png");
  EXPECT_NE(run({"detect", "m", "photos", "--no-pictures", "--gt", "gt.json"}, 1)
                .find("photos/more/z.png: is not among the images of gt.json"),
            std::string::npos);
}

TEST_F(CliDetect, EvaluationIsThatOfTheResults) {
  write_truth();
  const Json json = Json::parse(run({"detect", "m", "--eval", "--gt", "gt.json", "--data", "photos",
                                     "--no-pictures", "--results", "r.json", "--json"}));
  ASSERT_EQ(json["images"].size(), 2u);
  EXPECT_EQ(json["images"][0]["path"], "photos/b.jpg");
  EXPECT_EQ(json["images"][0]["image_id"], 42);
  const Json direct =
      Json::parse(run({"coco-eval", "--gt", "gt.json", "--dt", "r.json", "--json"}));
  for (const char* key : {"AP", "AP50", "AP75", "APs", "AR1", "AR100", "ARl"}) {
    EXPECT_EQ(json[key], direct[key]) << key;
  }
  const std::string text =
      run({"detect", "m", "--eval", "--gt", "gt.json", "--data", "photos", "--out", "found"});
  EXPECT_NE(text.find("dog"), std::string::npos) << text;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "found/b.jpg.detections.png"));
}

TEST_F(CliDetect, EvaluationSaysWhatItCouldNotCompare) {
  write_truth();
  EXPECT_EQ(error({"detect", "m", "--eval", "--gt", "gt.json", "--data", "nowhere"}),
            "sact: error: nowhere: there is no such folder\n");
  std::string text = read_json("gt.json").dump();
  text.replace(text.find("\"width\":80"), 10, "\"width\":40");  // of b.jpg, the first
  write("gt.json", text);
  const std::string said =
      run({"detect", "m", "--eval", "--gt", "gt.json", "--data", "photos", "--no-pictures"}, 1);
  EXPECT_NE(said.find("photos/b.jpg: has 80x60 pixels (width x height), but its annotation says "
                      "40x60\n"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("objects of the 1 image that failed count as missed"), std::string::npos);
}

TEST_F(CliDetect, OneBrokenImageDoesNotStopTheOthers) {
  write("photos/broken.jpg", "no image");
  std::filesystem::create_directories(directory_ / "empty");
  const auto finished =
      run_sact({"detect", "m", "photos", "empty", "none*.png", "--no-pictures", "--json"},
               directory_.path());
  EXPECT_EQ(finished.status, 1);
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["failed"], 3);
  ASSERT_EQ(json["images"].size(), 6u);
  int run = 0;
  for (const Json& image : json["images"]) run += image.contains("detections");
  EXPECT_EQ(run, 3);
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 3) << finished.err;
}

TEST_F(CliDetect, MistakesAreOneLine) {
  run({"new", "--units", "1,1", "--width", "4", "--classes", "3", "--out", "classifier"});
  EXPECT_NE(error({"detect", "classifier", "photos"})
                .find("classifies images and does not find objects in them: use 'sact predict'"),
            std::string::npos);
  EXPECT_NE(error({"predict", "m", "photos"}).find("use 'sact detect'"), std::string::npos);
  EXPECT_NE(error({"detect", "m", "photos", "--out", "photos"}).find("choose another folder"),
            std::string::npos);
  EXPECT_NE(error({"detect", "m", "photos", "--backend", "torch"}).find("does not run detectors"),
            std::string::npos);
  EXPECT_NE(error({"detect", "m", "photos", "--backend", "engine", "--device", "cuda"})
                .find("--device cpu"),
            std::string::npos);
  EXPECT_NE(error({"detect", "m", "photos", "--results", "no/such/file"}).find("no/such"),
            std::string::npos);
  EXPECT_NE(error({"detect", "m", "photos", "--gt", "none.json"}).find("none.json"),
            std::string::npos);
  error({"detect", "m"}, 2);
  error({"detect", "m", "--eval", "--gt", "gt.json"}, 2);
  error({"detect", "m", "photos", "--score", "nan"}, 2);
  error({"detect", "m", "photos", "--max", "0"}, 2);
  write_truth();
  run({"new", "--spec", "spec.json", "--labels", "labels.txt", "--out", "other"}, 1);
  write("labels.txt", "tree\nhouse\n");
  run({"new", "--spec", "spec.json", "--labels", "labels.txt", "--out", "other"});
  EXPECT_NE(error({"detect", "other", "photos", "--gt", "gt.json"})
                .find("no category named as one of the model's classes ('tree', ...)"),
            std::string::npos);
}

TEST_F(CliDetect, BFloat16RunsAndAnExtractorCanBeMeasured) {
  const Json json =
      Json::parse(run({"detect", "m", "photos", "--no-pictures", "--json", "--dtype", "bf16"}));
  EXPECT_EQ(json["failed"], 0);
  const Json bench = Json::parse(run({"bench", "m", "--size", "64x96", "--density", "0.5",
                                      "--rounds", "2", "--threads", "1", "--json"}));
  ASSERT_EQ(bench["rows"].size(), 2u);
  const Json info = Json::parse(run({"info", "m", "--size", "64x96", "--json"}));
  EXPECT_NEAR(bench["rows"][0]["gflop"].get<double>() * 1e9, info["flops"].get<double>(), 1);
  const Json images = Json::parse(run({"bench", "m", "photos", "--size", "64x96", "--json"}));
  EXPECT_EQ(images["rows"].size(), 2u);
  EXPECT_NE(error({"bench", "m", "--torch"}).find("is a detector"), std::string::npos);
}

TEST_F(CliDetect, NewMakesADetector) {
  const Json made = Json::parse(
      run({"new", "--units", "1,1,1", "--width", "4", "--detect", "--json", "--out", "fresh"}));
  EXPECT_EQ(made["spec"]["classes"], 80);
  EXPECT_EQ(made["spec"]["detection"]["proposals"], 300);
  EXPECT_NE(run({"info", "fresh"}).find("a detector: block 3 classifies 300 proposals"),
            std::string::npos);
  EXPECT_NE(run({"new", "--units", "1,1", "--width", "4", "--detect", "--out", "fresh"})
                .find("sact detect fresh IMAGE"),
            std::string::npos);
  EXPECT_NE(error({"new", "--units", "1", "--detect", "--out", "fresh"}).find("units"),
            std::string::npos);
}

}  // namespace
}  // namespace sact
