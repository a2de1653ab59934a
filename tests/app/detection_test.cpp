// Finding the objects of an image in memory, and of files: no command.
#include "app/detection_job.h"

#include <gtest/gtest.h>

#include "app/backends.h"
#include "base/random.h"
#include "support/errors.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact::app {
namespace {

class Detection : public ::testing::Test {
 protected:
  Detection() {
    spec_.labels = {"cat", "dog", "car"};
    spec_.classes = 3;
    spec_.detection.emplace();
    spec_.detection->shorter_side = 64;
    spec_.detection->anchor_sizes = {16, 32};
    spec_.detection->proposals = 10;
    write_model(directory_ / "m", spec_, test::random_weights(spec_, 1));
    detector_ = std::move(open_detectors(ModelFile(directory_ / "m"), {.threads = 1}, 1).front());
    Random random(2);
    for (uint8_t& value : photo_.rgb) value = uint8_t(random.below(256));
    io::write_image(directory_ / "photo.png", photo_);
    truth_.name = "gt.json";
    truth_.categories = {{17, "dog"}, {3, "cat"}};
    truth_.images = {{42, "photo.png", {60, 90}}};
  }

  test::TemporaryDirectory directory_;
  ModelSpec spec_ = test::tiny_spec(Halting::kSact, {1, 2, 2});
  std::unique_ptr<detect::ObjectDetector> detector_;
  io::RgbImage photo_ = io::RgbImage(90, 60);
  detect::CocoInstances truth_;
};

TEST_F(Detection, AnImageGivesWhatTheDetectorFinds) {
  const DetectedFile found = detect_objects(*detector_, photo_, "noise", {0, 7});
  EXPECT_EQ(found.path, "noise");
  EXPECT_EQ(found.size, (Size{60, 90}));
  ASSERT_FALSE(found.result.detections.empty());
  EXPECT_LE(found.result.detections.size(), 7u);
  const auto right = detector_->detect(photo_, {0, 7});
  ASSERT_EQ(found.result.detections.size(), right.detections.size());
  EXPECT_EQ(found.result.detections[0].score, right.detections[0].score);
  const io::Json json = detection_json(spec_, detect::CocoIds(spec_), found);
  EXPECT_EQ(json["detections"].size(), right.detections.size());
  EXPECT_EQ(json["flops"], right.extractor.flops);
  EXPECT_TRUE(json["map"].is_null());
}

TEST_F(Detection, AFileGivesWhatItsImageGivesUnderItsId) {
  const detect::CocoIds ids(spec_, truth_);
  const std::vector<Input> inputs = annotated_inputs(truth_, directory_.path());
  ASSERT_EQ(inputs.size(), 1u);
  const DetectionJob job{.spec = spec_, .ids = ids, .options = {0, 7}, .annotated = &truth_};
  const DetectedFile found = job.run(*detector_, inputs[0], 0);
  EXPECT_EQ(found.image_id, 42);
  EXPECT_EQ(found.path, (directory_ / "photo.png").string());
  EXPECT_GT(found.load_ms, 0);
  EXPECT_TRUE(found.picture.empty());
  const DetectedFile right = detect_objects(*detector_, photo_, "noise", {0, 7});
  ASSERT_EQ(found.result.detections.size(), right.result.detections.size());
  EXPECT_EQ(found.result.detections[0].score, right.result.detections[0].score);
}

TEST_F(Detection, AnImageOfAnotherSizeThanItsAnnotationIsRefused) {
  truth_.images[0].size = {60, 91};
  const detect::CocoIds ids(spec_, truth_);
  const auto inputs = annotated_inputs(truth_, directory_.path());
  const DetectionJob job{.spec = spec_, .ids = ids, .annotated = &truth_};
  const std::string error = test::error_of([&] { job.run(*detector_, inputs[0], 0); });
  EXPECT_NE(error.find("photo.png"), std::string::npos) << error;
  truth_.images[0].size = {};  // not given
  EXPECT_EQ(job.run(*detector_, inputs[0], 0).size, (Size{60, 90}));
}

TEST_F(Detection, AnnotatedImagesNeedAFolderAndNames) {
  EXPECT_EQ(test::error_of([&] { annotated_inputs(truth_, "nowhere"); }),
            "nowhere: there is no such folder");
  truth_.images[0].file_name.clear();
  EXPECT_EQ(test::error_of([&] { annotated_inputs(truth_, directory_.path()); }),
            "gt.json: image 42 has no file_name");
}

TEST_F(Detection, TotalsAreMeansAndLeaveOutClassesWithoutCategory) {
  DetectedFile file;
  file.image_id = 42;
  file.load_ms = 4;
  file.result.extractor.flops = 10;
  file.result.dense_flops = 20;
  file.result.detections = {{{1, 2, 4, 8}, 1, 0.75f}, {{0, 0, 5, 5}, 2, 0.5f}};  // dog, car
  DetectionTotals totals;
  EXPECT_EQ(totals.json(), (io::Json{{"detections", 0}}));
  totals.add(detect::CocoIds(spec_, truth_), file);
  file.result.extractor.flops = 20;
  file.load_ms = 8;
  file.result.detections.clear();
  totals.add(detect::CocoIds(spec_, truth_), file);
  ASSERT_EQ(totals.results.entries.size(), 1u);
  EXPECT_EQ(totals.results.entries[0].image_id, 42);
  EXPECT_EQ(totals.results.entries[0].category_id, 17);
  const io::Json json = totals.json();
  EXPECT_EQ(json["detections"], 2);
  EXPECT_EQ(json["flops"], 15);
  EXPECT_EQ(json["dense_flops"], 20);
  EXPECT_EQ(json["ms"]["load"], 6);
  EXPECT_FALSE(json.contains("ponder_cost"));
}

TEST_F(Detection, PonderCostsAreToldInsideAndOutsideOfTrueBoxes) {
  Map map(2, 4);
  for (int i = 0; i < 8; ++i) map.values[size_t(i)] = float(i);  // 0 1 2 3 / 4 5 6 7
  // In an image of 40 x 20 the middles of cells lie at 5, 15, ... and at 5, 15.
  const auto found = ponder_by_boxes(map, {{14, 4, 26, 20}, {36, 0, 40, 9}}, {20, 40});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->inside, (1 + 2 + 5 + 6) / 4.0) << "cells 1, 2, 5 and 6";
  EXPECT_DOUBLE_EQ(found->outside, (0 + 3 + 4 + 7) / 4.0);
  EXPECT_FALSE(ponder_by_boxes(map, {}, {20, 40}));
  EXPECT_FALSE(ponder_by_boxes(map, {{0, 0, 40, 20}}, {20, 40}));
  truth_.objects = {{1, 42, truth_.categories[0].id, {1, 2, 30, 40}, 1200, false}};
  EXPECT_EQ(boxes_by_image(truth_)[0], std::vector<Box>({{1, 2, 31, 42}}));
}

}  // namespace
}  // namespace sact::app
