#include "model/detection.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "model/flops.h"
#include "model/initial_weights.h"
#include "model/weights.h"
#include "support/errors.h"

namespace sact {
namespace {

ModelSpec detector() {
  ModelSpec spec;
  spec.halting = Halting::kSact;
  spec.classes = 80;
  spec.detection.emplace();
  return spec;
}

TEST(DetectionSpec, GoesThroughJson) {
  ModelSpec spec = detector();
  spec.detection->anchor_sizes = {16, 40.5};
  spec.detection->proposals = 77;
  spec.detection->unknown["new"] = "[1]";
  const ModelSpec back = spec_from_json(to_json(spec), "test");
  ASSERT_TRUE(back.detection);
  EXPECT_EQ(back.detection->anchor_sizes, spec.detection->anchor_sizes);
  EXPECT_EQ(back.detection->proposals, 77);
  EXPECT_EQ(back.detection->unknown, spec.detection->unknown);
  EXPECT_EQ(to_json(back), to_json(spec));
  EXPECT_FALSE(spec_from_json(to_json(ModelSpec{}), "test").detection);
}

TEST(DetectionSpec, AbsurdValuesAreNamed) {
  auto message = [](const char* json) -> std::string {
    try {
      spec_from_json(json, "x");
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(R"({"detection": {"crop": 27}})"),
            "x: 'detection': 'crop' must be a multiple of 'pool', found 27 and 4");
  EXPECT_EQ(message(R"({"detection": {"anchor_sizes": []}})"),
            "x: 'detection': 'anchor_sizes' must be between 1 and 16, found 0");
  EXPECT_EQ(message(R"({"detection": {"anchor_ratios": [0]}})"),
            "x: 'detection': 'anchor_ratios' must be between 0.01 and 100, found 0");
  EXPECT_EQ(message(R"({"units": [3], "detection": {}})"),
            "x: a detector needs two blocks at least, but 'units' has one number");
  EXPECT_EQ(message(R"({"classes": 0})"), "x: 'classes' must be between 1 and 1000000, found 0");
}

TEST(Detection, ThePartsHaveTheWeightsOfTheWhole) {
  const ModelSpec spec = detector();
  std::vector<std::string> parts;
  for (const WeightInfo& weight : weight_list(extractor_spec(spec))) parts.push_back(weight.name);
  for (const WeightInfo& weight : weight_list(box_spec(spec))) {
    parts.push_back(box_weight_name(spec, weight.name));
  }
  std::vector<std::string> whole;
  for (const WeightInfo& weight : weight_list(spec)) {
    if (!weight.name.starts_with("proposal.")) whole.push_back(weight.name);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(whole.size() + 6, weight_list(spec).size());
}

TEST(Detection, TheHeadScoresBackgroundAndRefinesEveryClass) {
  std::map<std::string, io::Shape> shapes;
  for (const WeightInfo& weight : weight_list(detector())) shapes[weight.name] = weight.shape;
  EXPECT_EQ(shapes.at("head.fc.weight"), io::Shape({401, 2048}));
  EXPECT_EQ(shapes.at("proposal.conv.weight"), io::Shape({512, 1024, 3, 3}));
  EXPECT_EQ(shapes.at("proposal.box.weight"), io::Shape({48, 512, 1, 1}));
  EXPECT_EQ(feature_stride(detector()), 16);
}

TEST(Detection, FlopsOfTheExtractorAreThoseOfTheFirstBlocks) {
  const ModelSpec spec = detector();
  ModelSpec classifier = spec;
  classifier.detection.reset();
  int64_t expected = 0;
  for (const LayerCost& layer : layer_list(classifier, {600, 1000})) {
    if (layer.block < 3 && layer.name != "head.fc" && !layer.halting) {
      expected += layer.flops(layer.positions());
    }
  }
  EXPECT_EQ(dense_flops(extractor_spec(spec), {600, 1000}), expected);
  // The first unit of block 4 keeps its resolution: 7 x 7 cells of 1024 channels.
  const std::vector<LayerCost> layers = layer_list(box_spec(spec), {7, 7});
  EXPECT_EQ(layers.front().name, "stages.0.blocks.0.downsample.conv");
  EXPECT_EQ(layers.front().in_channels, 1024);
  EXPECT_EQ(layers.front().out_channels, 2048);
  EXPECT_EQ(layers.front().size, (Size{7, 7}));
}

TEST(Detection, ImagesAreScaledByTheirShorterSide) {
  const DetectionSpec detection;
  EXPECT_EQ(detection_size(detection, {480, 640}), (Size{600, 800}));
  EXPECT_EQ(detection_size(detection, {500, 333}), (Size{901, 600}));
  EXPECT_EQ(detection_size(detection, {1200, 1200}), (Size{600, 600}));
}

TEST(Detection, NarrowImagesAreScaledByTheirLongerSide) {
  const DetectionSpec detection;
  EXPECT_EQ(detection_size(detection, {30, 1638}), (Size{600, 32760}));
  EXPECT_EQ(detection_size(detection, {10, 3000}), (Size{109, 32768}));
  EXPECT_EQ(detection_size(detection, {32768, 32}), (Size{32768, 32}));
  EXPECT_EQ(
      test::error_of([&] {
        detection_size(detection, {1, 2000});
      }),
      "an image of 2000x1 pixels (width x height) is too narrow: a size of 16x32768 (height x "
      "width) cannot be used: both sides must be from 32 to 32768");
}

}  // namespace
}  // namespace sact
