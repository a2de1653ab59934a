// A detector on the CPU engine: against a slow one, and what must hold whatever its weights are.
#include "detect/detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "detect/anchors.h"
#include "detect/box_cuts.h"
#include "detect/proposals.h"
#include "engine/detectors.h"
#include "engine/slow_network.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::detect {
namespace {

using engine::test::detector_on;
using engine::test::Features;
using engine::test::SlowNetwork;
using engine::test::WeightMap;

constexpr auto kFloat = kernels::DataType::kFloat32;

ModelSpec tiny_detector(Halting halting = Halting::kSact) {
  ModelSpec spec = test::tiny_spec(halting, {1, 3, 3});
  spec.classes = 3;
  spec.detection.emplace();
  spec.detection->shorter_side = 64;
  spec.detection->anchor_sizes = {12, 30};
  spec.detection->proposal_channels = 9;
  spec.detection->proposals = 25;
  spec.detection->crop = 12;
  spec.detection->pool = 3;
  return spec;
}

class DetectorTest : public ::testing::Test {
 protected:
  /// A file of random weights; layers that are small in fresh detectors say something.
  ModelFile file_of(const ModelSpec& spec, uint64_t seed,
                    const std::function<void(Weight&)>& change = {}) {
    std::vector<Weight> weights = test::random_weights(spec, seed);
    values_.clear();
    for (Weight& weight : weights) {
      if (weight.info.role == WeightRole::kLinear) {
        for (float& value : weight.values) value *= 30;
      }
      if (change) change(weight);
      values_[weight.info.name] = weight.values;
    }
    write_model(directory_ / "model.safetensors", spec, weights);
    return ModelFile(directory_ / "model.safetensors");
  }

  test::TemporaryDirectory directory_;
  WeightMap values_;  // of the last file
};

io::RgbImage noise_image(int width, int height, uint64_t seed) {
  Random random(seed);
  io::RgbImage image(width, height);
  for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
  return image;
}

io::RgbImage plain_image(int width, int height) {
  io::RgbImage image(width, height);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = uint8_t(60 + 50 * (i % 3));
  return image;
}

Features image_of(const std::vector<float>& planes, Size size) {
  Features features(size, 3);
  const int64_t plane = size.positions();
  for (int64_t i = 0; i < 3 * plane; ++i) {
    features.values[size_t(i % plane * 3 + i / plane)] = double(planes[size_t(i)]);
  }
  return features;
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// One bilinear sample of each crop cell, and the maxima over pool x pool of them.
Features slow_crop(const Features& features, const CropBox& box, const DetectionSpec& detection) {
  const std::vector<float> values = floats(features.values);
  const int crop = detection.crop, cells = detection.cells(), channels = features.channels;
  std::vector<float> samples(size_t(crop * crop * channels));
  crop_and_resize({values.data(), features.size, channels}, box, crop, samples.data());
  Features pooled({cells, cells}, channels);
  std::fill(pooled.values.begin(), pooled.values.end(), -std::numeric_limits<double>::infinity());
  for (int y = 0; y < crop; ++y) {
    for (int x = 0; x < crop; ++x) {
      for (int c = 0; c < channels; ++c) {
        double& cell = pooled.at(y / detection.pool, x / detection.pool, c);
        cell = std::max(cell, double(samples[size_t((y * crop + x) * channels + c)]));
      }
    }
  }
  return pooled;
}

double relative_error(const std::vector<float>& found, const std::vector<double>& right) {
  EXPECT_EQ(found.size(), right.size());
  double error = 0, norm = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - right[i], 2);
    norm += std::pow(right[i], 2);
  }
  return std::sqrt(error / norm);
}

TEST_F(DetectorTest, ComputesWhatTheSlowFormComputes) {
  for (const Halting halting : {Halting::kNone, Halting::kSact}) {
    const ModelSpec spec = tiny_detector(halting);
    const ModelFile file = file_of(spec, 1);
    const Size size{64, 90};
    const std::vector<float> planes = test::random_planes(1, size, 2);
    const ModelSpec extractor = extractor_spec(spec), boxes = box_spec(spec);
    const auto extracted = SlowNetwork(extractor, values_).run(image_of(planes, size));
    const auto anchors = engine::test::slow_anchor_outputs(extracted.features, spec, values_);
    const auto [proposals, objectness] = propose(
        make_anchors(anchor_settings(spec), extracted.features.size), floats(anchors.scores),
        floats(anchors.codes), size, proposal_options(*spec.detection));
    ASSERT_EQ(proposals.size(), 25u);
    WeightMap own;
    for (const WeightInfo& info : weight_list(boxes)) {
      own[info.name] = values_.at(box_weight_name(spec, info.name));
    }
    for (const kernels::Table* table : kernels::available_tables()) {
      SCOPED_TRACE(table->name);
      auto session = engine::test::detector_session(file, *table, kFloat, 2);
      const engine::CpuDetectorSession& inside = *session;
      ObjectDetector detector(spec, std::move(session));
      const DetectorOutputs found = detector.run(planes_view(planes, 1, size));
      EXPECT_LT(
          relative_error(engine::test::values_of(inside.features()), extracted.features.values),
          1e-4);
      ASSERT_EQ(found.proposals.boxes.size(), proposals.size());
      std::vector<double> outputs;
      for (size_t i = 0; i < proposals.size(); ++i) {
        for (const auto& [a, b] : {std::pair(found.proposals.boxes[i].x0, proposals[i].x0),
                                   std::pair(found.proposals.boxes[i].y0, proposals[i].y0),
                                   std::pair(found.proposals.boxes[i].x1, proposals[i].x1),
                                   std::pair(found.proposals.boxes[i].y1, proposals[i].y1)}) {
          EXPECT_NEAR(a, b, 1e-2) << "box " << i;
        }
        const auto of_box =
            SlowNetwork(boxes, own)
                .run(slow_crop(extracted.features, crop_box(proposals[i], size), *spec.detection));
        outputs.insert(outputs.end(), of_box.logits.begin(), of_box.logits.end());
        EXPECT_EQ(found.boxes.maps[i].units, of_box.blocks[0].units) << "box " << i;
      }
      EXPECT_LT(relative_error(found.boxes.outputs, outputs), 1e-3);
    }
  }
}

TEST_F(DetectorTest, BoxesAreInPixelsOfTheImageThatWasGiven) {
  const ModelFile file = file_of(tiny_detector(), 3);
  ObjectDetector detector = detector_on(file, kernels::chosen_table(), kFloat, 2);
  const io::RgbImage image = noise_image(200, 130, 4);
  const DetectedImage found = detector.detect(image, {0.1f, 50});
  EXPECT_EQ(found.scaled, (Size{64, 98}));
  ASSERT_FALSE(found.detections.empty());
  const auto planes = network_input(image, io::whole(image), found.scaled, file.spec().input);
  const DetectorOutputs outputs = detector.run(planes_view(planes, 1, found.scaled));
  const std::vector<Detection> right = find_detections(
      outputs.proposals.boxes, outputs.boxes.outputs, 3, found.scaled, {0.1f, 50, 0.6f});
  ASSERT_EQ(found.detections.size(), right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    EXPECT_EQ(found.detections[i].label, right[i].label);
    EXPECT_EQ(found.detections[i].score, right[i].score);
    EXPECT_EQ(found.detections[i].box, scaled(right[i].box, 200.0f / 98, 130.0f / 64));
  }
}

TEST_F(DetectorTest, APlainImageOfTwiceTheSizeHasBoxesOfTwiceTheSize) {
  const ModelFile file = file_of(tiny_detector(), 5);
  ObjectDetector detector = detector_on(file, kernels::chosen_table(), kFloat, 2);
  const DetectedImage once = detector.detect(plain_image(75, 50), {0.05f, 100});
  const DetectedImage twice = detector.detect(plain_image(150, 100), {0.05f, 100});
  EXPECT_EQ(once.scaled, twice.scaled);
  EXPECT_EQ(once.extractor.flops, twice.extractor.flops);
  ASSERT_FALSE(once.detections.empty());
  ASSERT_EQ(once.detections.size(), twice.detections.size());
  // All positions look alike, so the order among equal scores is rounding's.
  for (const Detection& one : once.detections) {
    const Box box = scaled(one.box, 2, 2);
    EXPECT_TRUE(
        std::any_of(twice.detections.begin(), twice.detections.end(), [&](const Detection& other) {
          return other.label == one.label && std::abs(other.score - one.score) < 1e-5f &&
                 std::abs(other.box.x0 - box.x0) < 1e-3f &&
                 std::abs(other.box.y0 - box.y0) < 1e-3f &&
                 std::abs(other.box.x1 - box.x1) < 1e-3f && std::abs(other.box.y1 - box.y1) < 1e-3f;
        }));
  }
}

TEST_F(DetectorTest, ReportsWhatWasAskedForAndCountsItsWork) {
  const ModelSpec spec = tiny_detector();
  ObjectDetector detector = detector_on(file_of(spec, 6), kernels::chosen_table(), kFloat, 3);
  const io::RgbImage image = noise_image(90, 70, 7);
  const DetectedImage all = detector.detect(image, {0, 1000});
  ASSERT_GT(all.detections.size(), 10u);
  for (size_t i = 0; i < all.detections.size(); ++i) {
    const Detection& detection = all.detections[i];
    EXPECT_LE(detection.score, all.detections[std::max<size_t>(i, 1) - 1].score);
    EXPECT_GE(detection.label, 0);
    EXPECT_LT(detection.label, 3);
    EXPECT_GE(detection.box.x0, 0);
    EXPECT_GE(detection.box.y0, 0);
    EXPECT_LE(detection.box.x1, 90.001f);
    EXPECT_LE(detection.box.y1, 70.001f);
    EXPECT_GT(area(detection.box), 0);
  }
  const DetectedImage five = detector.detect(image, {0, 5});
  ASSERT_EQ(five.detections.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(five.detections[i].box, all.detections[i].box);
  const float middle = all.detections[all.detections.size() / 2].score;
  for (const Detection& detection : detector.detect(image, {middle, 1000}).detections) {
    EXPECT_GE(detection.score, middle);
  }
  EXPECT_TRUE(detector.detect(image, {1.1f, 1000}).detections.empty());

  EXPECT_EQ(all.proposals(), 25);
  EXPECT_EQ(all.dense_flops, dense_flops(extractor_spec(spec), all.scaled));
  EXPECT_EQ(all.extractor.flops,
            result_flops(extractor_spec(spec), all.scaled, all.extractor.blocks));
  EXPECT_EQ(all.extractor.blocks.size(), 2u);
  EXPECT_LE(all.extractor.flops, all.dense_flops + halting_flops(extractor_spec(spec), all.scaled));
  EXPECT_EQ(all.dense_box_flops, 25 * dense_flops(box_spec(spec), {4, 4}));
  EXPECT_GT(all.box_flops, 0);
  EXPECT_LE(all.box_flops, all.dense_box_flops + 25 * halting_flops(box_spec(spec), {4, 4}));
  for (const double ms : {all.ms.scale, all.ms.extractor, all.ms.proposals, all.ms.crops,
                          all.ms.boxes, all.ms.rest}) {
    EXPECT_GT(ms, 0);
  }
}

TEST_F(DetectorTest, WithoutProposalsNothingIsFound) {
  // Boxes of a thousandth of a pixel are no proposals.
  const ModelFile file = file_of(tiny_detector(), 8, [](Weight& weight) {
    if (weight.info.name == "proposal.box.bias") {
      std::fill(weight.values.begin(), weight.values.end(), -1000.0f);
    }
  });
  ObjectDetector detector = detector_on(file, kernels::chosen_table(), kFloat, 2);
  const DetectedImage found = detector.detect(noise_image(64, 64, 9), {0, 100});
  EXPECT_EQ(found.proposals(), 0);
  EXPECT_TRUE(found.detections.empty());
  EXPECT_EQ(found.box_flops, 0);
  EXPECT_GT(found.extractor.flops, 0);
}

TEST_F(DetectorTest, ThreadsAndEarlierImagesDoNotMatter) {
  const ModelFile file = file_of(tiny_detector(Halting::kNone), 10);
  const Size size{64, 80};
  const std::vector<float> planes = test::random_planes(1, size, 11);
  const DetectorOutputs right =
      detector_on(file, kernels::chosen_table(), kFloat, 1).run(planes_view(planes, 1, size));
  for (const int threads : {1, 2, 5}) {
    ObjectDetector detector = detector_on(file, kernels::chosen_table(), kFloat, threads);
    for (const Size other : {Size{128, 64}, Size{64, 64}}) {
      detector.run(planes_view(test::random_planes(1, other, 12), 1, other));
      const DetectorOutputs found = detector.run(planes_view(planes, 1, size));
      ASSERT_EQ(found.proposals.boxes.size(), right.proposals.boxes.size());
      EXPECT_LT(relative_error(found.boxes.outputs,
                               {right.boxes.outputs.begin(), right.boxes.outputs.end()}),
                1e-4);
    }
  }
}

TEST_F(DetectorTest, BoxesBelowTheCutOfAScoreAreNotLookedAt) {
  ModelSpec spec = tiny_detector();
  const io::RgbImage image = noise_image(100, 90, 21);
  const DetectedImage all =
      detector_on(file_of(spec, 20), kernels::chosen_table(), kFloat, 2).detect(image, {0.05, 100});
  ASSERT_EQ(all.proposals(), 25);
  EXPECT_TRUE(std::is_sorted(all.objectness.rbegin(), all.objectness.rend()));
  spec.detection->box_cuts = {{0.05, double(all.objectness[18])}, {0.3, double(all.objectness[6])}};
  const ModelFile file = file_of(spec, 20);
  ObjectDetector detector = detector_on(file, kernels::chosen_table(), kFloat, 2);
  EXPECT_EQ(detector.detect(image, {0.01, 100}).proposals(), 25) << "no cut for such low scores";
  EXPECT_EQ(detector.detect(image, {0.4, 100}).proposals(), 7);
  EXPECT_TRUE(detector.detect(image, {0.05, 0}).detections.empty()) << "none is wanted";
  const DetectedImage some = detector.detect(image, {0.05, 100});
  EXPECT_EQ(some.proposals(), 19);
  EXPECT_LT(some.box_flops, all.box_flops);
  // What is found in the boxes above the cut is what was found in them before.
  ASSERT_FALSE(some.detections.empty());
  for (const Detection& one : some.detections) {
    EXPECT_LT(one.proposal, 19);
    EXPECT_TRUE(std::any_of(all.detections.begin(), all.detections.end(),
                            [&](const Detection& other) {
                              return other.label == one.label &&
                                     std::abs(other.score - one.score) < 1e-4f;
                            }) ||
                std::any_of(all.detections.begin(), all.detections.end(),
                            [](const Detection& other) { return other.proposal >= 19; }));
  }
  EXPECT_EQ(detector.detect(image, {0.05, 100, 5}).proposals(), 5);
  EXPECT_EQ(detector.detect(image, {0.01, 100, 30}).proposals(), 30) << "more than its own number";
  EXPECT_EQ(detector.detect(image, {0.4, 100, 0, true}).proposals(), 25);
  EXPECT_EQ(detector.detect(image, {0.4, 100}).proposals(), 7) << "each call asks for itself";
}

TEST(BoxCuts, LoseNoMoreObjectsThanAllowed) {
  Random random(30);
  std::vector<FoundObject> found;
  for (int i = 0; i < 3000; ++i) {
    const float score = float(random.uniform(0, 0.75));
    found.push_back({score, float(5 * score + random.normal())});
  }
  const std::vector<BoxCut> cuts = measure_box_cuts(found, 0.02);
  ASSERT_EQ(cuts.size(), 8u) << "fewer than 50 objects have 0.9";
  for (const BoxCut& cut : cuts) {
    int of_score = 0, lost = 0;
    for (const FoundObject& object : found) {
      if (double(object.score) < cut.score) continue;
      ++of_score;
      lost += object.objectness < least_objectness(cuts, cut.score);
    }
    EXPECT_LE(lost, 0.02 * of_score);
    EXPECT_GE(lost, 0.01 * of_score) << "and not many fewer";
  }
  EXPECT_EQ(least_objectness(cuts, 0.01), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(least_objectness(cuts, 0.05f), float(cuts[1].objectness));
  EXPECT_EQ(least_objectness(cuts, 0.07), float(cuts[1].objectness));
  EXPECT_TRUE(measure_box_cuts({}, 0.02).empty());
}

TEST_F(DetectorTest, BFloat16IsNear) {
  const ModelFile file = file_of(tiny_detector(Halting::kNone), 13);
  const Size size{64, 64};
  const std::vector<float> planes = test::random_planes(1, size, 14);
  struct Found {
    std::vector<float> features, scores;
  };
  const auto run = [&](kernels::DataType type) {
    const auto session = engine::test::detector_session(file, kernels::chosen_table(), type, 2);
    session->extract(planes_view(planes, 1, size));
    return Found{engine::test::values_of(session->features()), session->score_anchors().scores};
  };
  const Found full = run(kFloat), half = run(kernels::DataType::kBFloat16);
  const auto doubles = [](const std::vector<float>& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  const double features = relative_error(half.features, doubles(full.features));
  EXPECT_LT(features, 2e-2);
  EXPECT_GT(features, 1e-6) << "bfloat16 was not used";
  EXPECT_LT(relative_error(half.scores, doubles(full.scores)), 5e-2);
}

TEST_F(DetectorTest, MoreCropsThanMemoryIsTakenForAreClassifiedInParts) {
  ModelSpec spec = tiny_detector();
  spec.detection->anchor_sizes = {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
  spec.detection->anchor_ratios = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
                                   1,   1.2, 1.4, 1.6, 1.8, 2,   3,   4};
  spec.detection->nms_iou = 1;  // nothing is suppressed
  spec.detection->crop = 32;
  spec.detection->pool = 1;
  spec.detection->proposals = 1100;  // of 128 KiB of features each
  const std::vector<float> planes = test::random_planes(1, {64, 64}, 15);
  const DetectorOutputs many = detector_on(file_of(spec, 16), kernels::chosen_table(), kFloat, 2)
                                   .run(planes_view(planes, 1, {64, 64}));
  ASSERT_EQ(many.proposals.boxes.size(), 1100u);
  ASSERT_EQ(many.boxes.outputs.size(), 1100u * 16);
  spec.detection->proposals = 30;
  const DetectorOutputs few = detector_on(file_of(spec, 16), kernels::chosen_table(), kFloat, 2)
                                  .run(planes_view(planes, 1, {64, 64}));
  EXPECT_LT(relative_error({many.boxes.outputs.begin(), many.boxes.outputs.begin() + 30 * 16},
                           {few.boxes.outputs.begin(), few.boxes.outputs.end()}),
            1e-3);
}

TEST_F(DetectorTest, WhatIsNoDetectorOrGivesNoNumbersIsSaid) {
  const ModelSpec classifier = test::tiny_spec(Halting::kNone);
  const auto make = [](const ModelFile& file) {
    return detector_on(file, kernels::chosen_table(), kFloat, 1);
  };
  EXPECT_NE(test::error_of([&] { make(file_of(classifier, 1)); }).find("use 'sact predict'"),
            std::string::npos);
  const ModelFile endless = file_of(tiny_detector(), 1, [](Weight& weight) {
    if (weight.info.name == "stem.conv.weight") {
      for (float& value : weight.values) value *= 3e38f;
    }
    for (float& value : weight.values) value = std::clamp(value, -3e38f, 3e38f);
  });
  ObjectDetector detector = make(endless);
  EXPECT_EQ(test::error_of([&] { detector.detect(noise_image(64, 64, 1)); }),
            "the network's output is not finite");
  EXPECT_NE(
      test::error_of([&] { detector.detect(noise_image(3000, 2, 1)); }).find("cannot be used"),
      std::string::npos);
}

TEST_F(DetectorTest, FilesThatLackOrBendAWeightAreRefused) {
  const ModelSpec spec = tiny_detector();
  const auto error_without = [&](const std::string& name, bool bend) {
    std::vector<Weight> weights = test::random_weights(spec, 1);
    const auto found = std::find_if(weights.begin(), weights.end(),
                                    [&](const Weight& w) { return w.info.name == name; });
    EXPECT_NE(found, weights.end()) << name;
    if (bend) {
      found->info.shape[0] += 1;
      found->values.resize(size_t(found->info.elements()));
    } else {
      weights.erase(found);
    }
    write_model(directory_ / "bad.safetensors", spec, weights);
    return test::error_of([&] { ModelFile(directory_ / "bad.safetensors"); });
  };
  for (const std::string name :
       {"proposal.conv.weight", "proposal.score.bias", "proposal.box.weight",
        "stages.2.blocks.0.conv1.weight", "head.fc.weight", "norm.bias"}) {
    for (const bool bend : {false, true}) {
      EXPECT_NE(error_without(name, bend).find(name), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sact::detect
