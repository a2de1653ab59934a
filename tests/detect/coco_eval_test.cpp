// Tests of the COCO metrics: corner cases worked out by hand.
#include "detect/coco_eval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "detect/coco_matching.h"
#include "support/errors.h"

namespace sact::detect {
namespace {

/// Boxes 40 wide are of medium size, 20 small, 100 large.
CocoBox square(double x, double side) {
  return {x, 0, side, side};
}

/// One category (id 1) in images 1, 2 and 3.
struct Case {
  CocoInstances truth{.name = "gt"};
  CocoResults results{.name = "dt"};

  Case() {
    truth.categories = {{1, "thing"}};
    truth.images = {{1}, {2}, {3}};
  }
  CocoObject& object(int64_t image, const CocoBox& box) {
    truth.objects.push_back({int64_t(truth.objects.size()) + 1, image, 1, box, box.area(), false});
    return truth.objects.back();
  }
  void crowd(int64_t image, const CocoBox& box) { object(image, box).crowd = true; }
  void detection(int64_t image, const CocoBox& box, double score) {
    results.entries.push_back({image, 1, box, score});
  }
  CocoMetrics metrics() const { return evaluate_coco(truth, results).metrics; }
};

constexpr double kTolerance = 1e-12;

TEST(CocoOverlap, IsOverTheUnionOrOverTheDetectionForCrowds) {
  EXPECT_DOUBLE_EQ(overlap({0, 0, 10, 10}, {5, 0, 10, 10}, false), 50.0 / 150);
  EXPECT_DOUBLE_EQ(overlap({0, 0, 10, 10}, {5, 0, 10, 10}, true), 0.5);
  EXPECT_DOUBLE_EQ(overlap({5, 5, 2, 2}, {0, 0, 100, 100}, true), 1);
  EXPECT_EQ(overlap({0, 0, 10, 10}, {10, 0, 10, 10}, false), 0);
  EXPECT_EQ(overlap({0, 0, 0, 0}, {0, 0, 0, 0}, false), 0);
  EXPECT_EQ(overlap({3, 3, 0, 5}, {0, 0, 10, 10}, true), 0);
}

TEST(CocoEval, NothingToFindIsMinusOne) {
  Case empty;
  EXPECT_EQ(empty.metrics(), (CocoMetrics{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  empty.detection(1, square(0, 40), 0.9);
  EXPECT_EQ(empty.metrics()[kAp], -1);
  empty.crowd(1, square(0, 40));
  EXPECT_EQ(empty.metrics()[kAp], -1);
  EXPECT_EQ(empty.metrics()[kAr100], -1);
}

TEST(CocoEval, NothingFoundIsZero) {
  Case missed;
  missed.object(1, square(0, 40));
  EXPECT_EQ(missed.metrics(), (CocoMetrics{0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, -1}));
  missed.detection(2, square(0, 40), 0.9);  // the right place in the wrong image
  missed.detection(1, square(50, 40), 0.8);
  EXPECT_EQ(missed.metrics(), (CocoMetrics{0, 0, 0, -1, 0, -1, 0, 0, 0, -1, 0, -1}));
}

TEST(CocoEval, CopiesOfTheTruthAreRightEverywhere) {
  Case exact;
  for (const double side : {20.0, 40.0, 100.0}) {
    for (int image = 1; image <= 3; ++image) {
      exact.object(image, square(side, side));
      exact.detection(image, square(side, side), 1 / side);
    }
  }
  const CocoMetrics metrics = exact.metrics();
  for (const CocoMetric metric : {kAp, kAp50, kAp75, kApSmall, kApMedium, kApLarge, kAr10, kAr100,
                                  kArSmall, kArMedium, kArLarge}) {
    EXPECT_NEAR(metrics[metric], 1, kTolerance) << metric;
  }
  EXPECT_NEAR(metrics[kAr1], 1.0 / 3, kTolerance);  // one of the three objects of each image
}

TEST(CocoEval, OverlapsCountFromTheirThresholdOn) {
  // 40 wide of which 29 are common: 29 / 51 = 0.569, so at 0.5 and 0.55 of the ten.
  Case shifted;
  shifted.object(1, square(0, 40));
  shifted.detection(1, square(11, 40), 0.9);
  CocoMetrics metrics = shifted.metrics();
  EXPECT_NEAR(metrics[kAp50], 1, kTolerance);
  EXPECT_EQ(metrics[kAp75], 0);
  EXPECT_NEAR(metrics[kAp], 0.2, kTolerance);
  EXPECT_NEAR(metrics[kAr100], 0.2, kTolerance);
  // Exactly at a threshold: 30 x 40 inside of 40 x 40 is 0.75.
  shifted.results.entries.front().box = {0, 0, 30, 40};
  metrics = shifted.metrics();
  EXPECT_NEAR(metrics[kAp75], 1, kTolerance);
  EXPECT_NEAR(metrics[kAp], 0.6, kTolerance);
}

TEST(CocoEval, PrecisionIsTheBestAtThatRecallOrAHigherOne) {
  // Two objects; by score: right, wrong, right. Precision 1 up to recall 0.5, then 2 / 3.
  Case mixed;
  mixed.object(1, square(0, 40));
  mixed.object(1, square(100, 40));
  mixed.detection(1, square(0, 40), 0.9);
  mixed.detection(1, square(200, 40), 0.8);
  mixed.detection(1, square(100, 40), 0.7);
  EXPECT_NEAR(mixed.metrics()[kAp], (51 + 50 * 2.0 / 3) / 101, kTolerance);
  // Wrong, right, right: 1 / 2 after the first, but 2 / 3 after the second, for all recalls.
  mixed.results.entries[1].score = 0.95;
  EXPECT_NEAR(mixed.metrics()[kAp], 2.0 / 3, kTolerance);
  // Recall ends at 0.5: nothing for the 50 recalls above.
  mixed.results.entries.pop_back();
  EXPECT_NEAR(mixed.metrics()[kAp], 51 * 0.5 / 101, kTolerance);
}

TEST(CocoEval, AnObjectIsFoundOnce) {
  Case twice;
  twice.object(1, square(0, 40));
  twice.detection(1, square(0, 40), 0.8);
  twice.detection(1, square(4, 40), 0.9);  // 36 / 44 = 0.82
  // Up to 0.8 the second takes the object, though the first would fit better, and the first is
  // wrong when all is found. Above it is the other way round: one wrong before the right one.
  EXPECT_NEAR(twice.metrics()[kAp], (7 * 1 + 3 * 0.5) / 10, kTolerance);
  EXPECT_NEAR(twice.metrics()[kAr1], 0.7, kTolerance);
  EXPECT_NEAR(twice.metrics()[kAr10], 1, kTolerance);
}

TEST(CocoEval, ADetectionTakesTheObjectItOverlapsMost) {
  Case between;
  between.object(1, square(0, 40));
  between.object(1, square(8, 40));
  between.detection(1, square(7, 40), 0.9);  // 33 / 47 = 0.70 and 39 / 41
  between.detection(1, square(8, 40), 0.8);  // its own is taken: 32 / 48 = 0.67 with the other
  const CocoMetrics metrics = between.metrics();
  EXPECT_NEAR(metrics[kAr100], (4 * 1.0 + 6 * 0.5) / 10, kTolerance);  // 0.5 ... 0.65 find both
}

TEST(CocoEval, EqualScoresKeepTheOrderOfTheFileWithinAnImage) {
  Case tied;
  tied.object(1, square(0, 40));
  tied.detection(1, square(200, 40), 0.5);
  tied.detection(1, square(0, 40), 0.5);
  EXPECT_NEAR(tied.metrics()[kAp], 0.5, kTolerance);
  EXPECT_EQ(tied.metrics()[kAr1], 0);  // the first of both is the only one
  std::swap(tied.results.entries[0], tied.results.entries[1]);
  EXPECT_NEAR(tied.metrics()[kAp], 1, kTolerance);
  EXPECT_NEAR(tied.metrics()[kAr1], 1, kTolerance);
}

TEST(CocoEval, EqualScoresOfImagesGoByTheIdsOfTheImages) {
  Case tied;
  tied.truth.images = {{30}, {7}};
  tied.object(7, square(0, 40));
  tied.detection(30, square(0, 40), 0.5);  // wrong, and first in the file, but of a later image
  tied.detection(7, square(0, 40), 0.5);
  EXPECT_NEAR(tied.metrics()[kAp], 1, kTolerance);
  tied.truth.images = {{30}, {77}};
  tied.truth.objects[0].image_id = tied.results.entries[1].image_id = 77;
  EXPECT_NEAR(tied.metrics()[kAp], 0.5, kTolerance);
}

TEST(CocoEval, CrowdsExcuseAnyNumberOfDetections) {
  Case crowded;
  crowded.object(1, square(0, 40));
  crowded.crowd(1, {100, 0, 300, 100});
  for (int i = 0; i < 5; ++i) crowded.detection(1, square(100 + 41 * i, 40), 0.9);
  crowded.detection(1, square(0, 40), 0.1);
  EXPECT_NEAR(crowded.metrics()[kAp], 1, kTolerance);
  // Half of it inside counts at overlap 0.5 alone; beyond it is wrong nine times.
  crowded.detection(1, {80, 0, 40, 40}, 0.95);
  EXPECT_NEAR(crowded.metrics()[kAp], (1 + 9 * 0.5) / 10, kTolerance);
}

TEST(CocoEval, AnObjectGoesBeforeACrowdThatOverlapsMore) {
  Case both;
  both.crowd(1, square(0, 400));
  both.object(1, square(0, 40));
  both.detection(1, square(8, 40), 0.9);  // 32 / 48 with the object, all of it in the crowd
  const CocoMetrics metrics = both.metrics();
  EXPECT_NEAR(metrics[kAr100], 0.4, kTolerance);  // found at 0.5 ... 0.65
  EXPECT_NEAR(metrics[kAp], 0.4, kTolerance);     // and excused above
}

TEST(CocoEval, AreasOfObjectsAreThoseOfTheAnnotation) {
  Case small;
  small.object(1, square(0, 40)).area = 1000;  // its outline fills less than the box
  small.detection(1, square(0, 40), 0.9);
  CocoMetrics metrics = small.metrics();
  EXPECT_NEAR(metrics[kApSmall], 1, kTolerance);
  EXPECT_EQ(metrics[kApMedium], -1);
  // A bound belongs to both ranges.
  small.truth.objects[0].area = 32 * 32;
  metrics = small.metrics();
  EXPECT_NEAR(metrics[kApSmall], 1, kTolerance);
  EXPECT_NEAR(metrics[kApMedium], 1, kTolerance);
  EXPECT_EQ(metrics[kApLarge], -1);
}

TEST(CocoEval, DetectionsOfAnotherSizeAreExcusedUnlessTheyFindAnObject) {
  Case sized;
  sized.object(1, square(0, 20));
  sized.detection(1, square(300, 100), 0.9);  // wrong, but large
  sized.detection(1, square(0, 20), 0.5);
  CocoMetrics metrics = sized.metrics();
  EXPECT_NEAR(metrics[kApSmall], 1, kTolerance);
  EXPECT_NEAR(metrics[kAp], 0.5, kTolerance);
  // A small object found by a medium box counts as found among the small ones.
  Case grown;
  grown.object(1, square(0, 32));
  grown.detection(1, square(0, 33), 0.9);  // 32^2 / 33^2 = 0.94
  metrics = grown.metrics();
  EXPECT_NEAR(metrics[kArSmall], 0.9, kTolerance);
  EXPECT_NEAR(metrics[kArMedium], 0.9, kTolerance);  // 32 x 32 is medium too
  grown.truth.objects[0].area = 1000;
  EXPECT_NEAR(grown.metrics()[kArSmall], 0.9, kTolerance);
  EXPECT_EQ(grown.metrics()[kArMedium], -1);
}

TEST(CocoEval, AHundredDetectionsCountForEachImageAndCategory) {
  Case many;
  many.truth.categories.push_back({2, "other"});
  many.object(1, square(0, 40));
  for (int i = 0; i < 100; ++i) many.detection(1, square(1000, 40), 0.9);
  many.detection(1, square(0, 40), 0.5);  // the 101st
  EXPECT_EQ(many.metrics()[kAr100], 0);
  many.results.entries[0].category_id = 2;
  EXPECT_NEAR(many.metrics()[kAr100], 1, kTolerance);
  EXPECT_EQ(many.metrics()[kAr10], 0);
  many.results.entries[0].category_id = 1;
  many.results.entries[0].image_id = 2;
  EXPECT_NEAR(many.metrics()[kAr100], 1, kTolerance);
}

TEST(CocoEval, CategoriesWithoutObjectsDoNotEnterTheMean) {
  Case three;
  three.truth.categories = {{9, "none"}, {5, "missed"}, {1, "found"}};
  three.object(1, square(0, 40));
  three.object(1, square(0, 40)).category_id = 5;
  three.detection(1, square(0, 40), 0.9);
  three.results.entries.push_back({1, 9, square(0, 40), 0.9});
  const CocoEvaluation evaluation = evaluate_coco(three.truth, three.results);
  EXPECT_NEAR(evaluation.metrics[kAp], 0.5, kTolerance);
  ASSERT_EQ(evaluation.categories.size(), 3u);
  EXPECT_EQ(evaluation.categories[0].category.name, "found");
  EXPECT_NEAR(evaluation.categories[0].metrics[kAp], 1, kTolerance);
  EXPECT_EQ(evaluation.categories[0].objects, 1);
  EXPECT_EQ(evaluation.categories[1].category.id, 5);
  EXPECT_EQ(evaluation.categories[1].metrics[kAp], 0);
  EXPECT_EQ(evaluation.categories[2].metrics[kAp], -1);
}

TEST(CocoEval, AnObjectWithIdZeroIsNeverFound) {
  Case zero;
  zero.object(1, square(0, 40)).id = 0;
  zero.detection(1, square(0, 40), 0.9);
  testing::internal::CaptureStderr();
  EXPECT_EQ(zero.metrics()[kAp], 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("annotations[0] has the id 0"),
            std::string::npos);
}

TEST(CocoEval, ResultsOfAnotherSetAreRefused) {
  Case wrong;
  wrong.detection(1, square(0, 40), 0.9);
  wrong.detection(4, square(0, 40), 0.9);
  EXPECT_EQ(test::error_of([&] { wrong.metrics(); }),
            "dt: [1]: 'image_id' is 4, but gt has no such image");
  wrong.results.entries[1] = {1, 7, {}, 1};
  EXPECT_EQ(test::error_of([&] { wrong.metrics(); }),
            "dt: [1]: 'category_id' is 7, but gt has no such category");
}

TEST(CocoEval, TheSummaryIsTheUsualTable) {
  const CocoMetrics metrics = {0.5046, 0.697, 0.573, -1, 0.5, 0.6, 0.387, 0.594, 0.595, -1, 1, 0};
  const std::string text = coco_summary(metrics);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.505");
  EXPECT_NE(text.find("\n Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ] = "
                      "0.573\n"),
            std::string::npos);
  EXPECT_NE(text.find(" Average Recall     (AR) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = "
                      "-1.000\n"),
            std::string::npos);
  EXPECT_NE(text.find(" Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ] = "
                      "0.387\n"),
            std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
}

TEST(CocoEval, JsonHasTheTwelveKeysAndThoseOfEachCategory) {
  Case exact;
  exact.object(1, square(0, 40));
  exact.detection(1, square(0, 40), 0.5);
  const io::Json json = to_json(evaluate_coco(exact.truth, exact.results));
  for (const std::string key :
       {"AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"}) {
    EXPECT_TRUE(json.at(key).is_number()) << key;
    EXPECT_EQ(json.at("per_category").at(0).at(key), json.at(key)) << key;
  }
  EXPECT_EQ(json.at("per_category").at(0).at("category"), "thing");
  EXPECT_EQ(json.at("APs"), -1.0);
}

}  // namespace
}  // namespace sact::detect
