// Finding objects through the library, against the command.
#include <nlohmann/json.hpp>

#include "api/pictures.h"

namespace sact {
namespace {

using test::error_of, test::kPicture, test::LibraryDetector, test::waves;

void expect_same(const Detections& found, const Detections& right) {
  ASSERT_EQ(found.objects().size(), right.objects().size());
  for (size_t i = 0; i < found.objects().size(); ++i) {
    EXPECT_EQ(found.objects()[i].box, right.objects()[i].box);
    EXPECT_EQ(found.objects()[i].score, right.objects()[i].score);
  }
  EXPECT_EQ(found.flops(), right.flops());
  EXPECT_EQ(found.ponder_cost_map().values, right.ponder_cost_map().values);
}

TEST_F(LibraryDetector, GivesWhatTheDetectCommandGives) {
  const auto run = test::run_sact({"detect", path("detector"), kPicture, "--no-pictures", "--json",
                                   "--threads", "1", "--score", "0.1", "--max", "7"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto right = nlohmann::json::parse(run.out)["images"][0];
  SessionOptions one;
  one.threads = 1;
  Detector detector(model(), one);
  const Detections found = detector.detect(Image::load(kPicture), {0.1, 7});
  ASSERT_EQ(found.objects().size(), right["detections"].size());
  ASSERT_EQ(found.objects().size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    const DetectedObject& object = found.objects()[i];
    const auto& other = right["detections"][i];
    EXPECT_EQ(object.score, other["score"].get<double>());
    EXPECT_EQ(object.label, other["label"].get<std::string>());
    EXPECT_EQ(
        (std::vector<float>{object.box.x0, object.box.y0, object.box.width(), object.box.height()}),
        other["bbox"].get<std::vector<float>>());
  }
  EXPECT_EQ(found.flops(), right["flops"].get<int64_t>());
  EXPECT_EQ(found.dense_flops(), right["dense_flops"].get<int64_t>());
  EXPECT_EQ(found.box_flops(), right["box_flops"].get<int64_t>());
  EXPECT_EQ(found.dense_box_flops(), right["dense_box_flops"].get<int64_t>());
  EXPECT_EQ(found.proposals(), right["proposals"].get<int>());
  EXPECT_EQ(found.scaled_height(), right["scaled_height"].get<int>());
  EXPECT_EQ(found.scaled_width(), right["scaled_width"].get<int>());
  EXPECT_EQ(found.ponder_cost(), right["ponder_cost"].get<double>());
  ASSERT_EQ(found.blocks().size(), 2u);
  for (size_t b = 0; b < 2; ++b) {
    const BlockResult& block = found.blocks()[b];
    double units = 0, cost = 0;
    for (const int32_t count : block.units) units += count / double(block.units.size());
    for (const float value : block.ponder_cost.values) cost += value / double(block.units.size());
    EXPECT_NEAR(units, right["blocks"][b]["units"].get<double>(), 1e-9);
    EXPECT_NEAR(cost, right["blocks"][b]["ponder_cost"].get<double>(), 1e-6);
  }
  EXPECT_GT(found.ms().extractor, 0);
  EXPECT_GT(found.ms().boxes, 0);
  EXPECT_LE(found.ms().extractor, found.ms().total());
}

TEST_F(LibraryDetector, LooksAtAsManyBoxesAsTheCommand) {
  SessionOptions one;
  one.threads = 1;
  Detector detector(Model::load(path("cut_detector")), one);
  const Image image = Image::load(kPicture);
  for (const auto& [wanted, options, proposals] :
       {std::tuple(DetectOptions{0.1, 100}, std::vector<std::string>{}, 0),
        std::tuple(DetectOptions{0.1, 100, 0, true}, std::vector<std::string>{"--all-boxes"}, 20),
        std::tuple(DetectOptions{0.1, 100, 7, true},
                   std::vector<std::string>{"--all-boxes", "--boxes", "7"}, 7),
        std::tuple(DetectOptions{0.1, 100, 30, true},
                   std::vector<std::string>{"--all-boxes", "--boxes", "30"}, 30)}) {
    std::vector<std::string> arguments = {"detect", path("cut_detector"), kPicture, "--no-pictures",
                                          "--json", "--threads",          "1",      "--score",
                                          "0.1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto run = test::run_sact(arguments);
    ASSERT_EQ(run.status, 0) << run.err;
    const auto right = nlohmann::json::parse(run.out)["images"][0];
    const Detections found = detector.detect(image, wanted);
    EXPECT_EQ(found.proposals(), proposals);
    EXPECT_EQ(found.proposals(), right["proposals"].get<int>());
    EXPECT_EQ(found.box_flops(), right["box_flops"].get<int64_t>());
    ASSERT_EQ(found.objects().size(), right["detections"].size());
    for (size_t i = 0; i < found.objects().size(); ++i) {
      EXPECT_EQ(found.objects()[i].score, right["detections"][i]["score"].get<double>());
    }
  }
  for (const int boxes : {-1, 10001}) {
    EXPECT_NE(error_of([&] {
                detector.detect(image, {0.1, 100, boxes});
              }).find("boxes"),
              std::string::npos);
  }
}

TEST_F(LibraryDetector, ViewsAndBatchesOfDifferentSizesGiveWhatEachGivesAlone) {
  Detector detector(model());
  const std::vector<Image> images = {waves(90, 70, 1), waves(64, 100, 2), waves(90, 70, 3)};
  int done = 0;
  RunOptions call;
  call.progress = [&](int now, int total) {
    EXPECT_EQ(now, ++done);
    EXPECT_EQ(total, 3);
  };
  const std::vector<Detections> all = detector.detect(images, {0, 5}, call);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(done, 3);
  for (size_t i = 0; i < 3; ++i) expect_same(all[i], detector.detect(images[i].view(), {0, 5}));
  EXPECT_GT(all[0].objects().size(), 0u);
  for (const DetectedObject& object : all[1].objects()) {
    EXPECT_GE(object.box.x0, 0);
    EXPECT_LE(object.box.x1, 64);
    EXPECT_LE(object.box.y1, 100);
  }
}

TEST_F(LibraryDetector, WorkAndCancellationAreOfOneCall) {
  Detector detector(model());
  detector.warm_up();
  detector.warm_up(70, 90);
  const Image image = waves(90, 70, 1);
  const Detections usual = detector.detect(image);
  RunOptions less;
  less.work = Work{3, 0, 0};
  EXPECT_LT(detector.detect(image, {}, less).flops(), usual.flops());
  int asked = 0;
  RunOptions never, late;
  never.cancelled = [&] { return ++asked > 1000000; };
  expect_same(detector.detect(image, {}, never), usual);
  const int all = asked;
  EXPECT_EQ(all, 1 + 2 + 2);  // units of the extractor, and of the last block on the boxes
  late.cancelled = [&] { return ++asked == all; };
  asked = 0;
  EXPECT_THROW(detector.detect(image, {}, late), Cancelled);
  expect_same(detector.detect(image), usual);
  RunOptions budget;
  budget.work = Work{0, 0.5, 0};
  EXPECT_NE(error_of([&] { detector.detect(image, {}, budget); }).find("detector"),
            std::string::npos);
}

TEST_F(LibraryDetector, ItsExtractorGivesSaliencyMaps) {
  Detector detector(model());
  const Image image = waves(90, 60, 1);
  SaliencyOptions options;
  options.size = 64;
  const Map map = detector.saliency_map(image, options);
  EXPECT_EQ(map.height, 16);
  EXPECT_EQ(map.width, 24);
  EXPECT_NE(*std::min_element(map.values.begin(), map.values.end()),
            *std::max_element(map.values.begin(), map.values.end()));
}

TEST_F(LibraryDetector, EachKindOfModelHasItsRunner) {
  EXPECT_TRUE(model().detects());
  EXPECT_EQ(model().input_size(), 64);
  EXPECT_EQ(model().label(1), "dog");
  EXPECT_FALSE(Model::load(path("sact")).detects());
  EXPECT_NE(error_of([&] { Session{model()}; }).find("make a detector"), std::string::npos);
  EXPECT_NE(error_of([&] { Detector{Model::load(path("sact"))}; }).find("make a session"),
            std::string::npos);
  Detector detector(model());
  EXPECT_NE(error_of([&] {
              detector.detect(waves(64, 64, 1), {0, -1});
            }).find("most"),
            std::string::npos);
  Detector other = std::move(detector);
  EXPECT_NE(error_of([&] { detector.detect(waves(64, 64, 1)); }).find("moved"), std::string::npos);
  EXPECT_EQ(other.detect(std::vector<Image>{}).size(), 0u);
}

}  // namespace
}  // namespace sact
