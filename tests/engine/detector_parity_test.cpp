// Detection end to end: the engine against LibTorch on random detectors.
#include <gtest/gtest.h>

#include "engine/detectors.h"
#include "support/temporary.h"
#include "train/random_network.h"
#include "train/torch/detector.h"

namespace sact::detect {
namespace {

ModelSpec random_spec(Halting halting, Stem stem, UnitKind unit) {
  ModelSpec spec = test::tiny_spec(halting, {2, 3, 3});
  spec.stem = stem;
  spec.unit = unit;
  spec.width = 12;
  spec.classes = 4;
  spec.detection.emplace();
  spec.detection->anchor_sizes = {16, 40};
  spec.detection->proposal_channels = 20;
  spec.detection->proposals = 30;
  return spec;
}

/// The largest difference over the largest value.
double difference(std::span<const float> found, std::span<const float> expected) {
  double largest = 1e-6, most = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double(expected[i])));
    most = std::max(most, std::abs(double(found[i]) - double(expected[i])));
  }
  return most / largest;
}

std::span<const float> span_of(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), size_t(tensor.numel())};
}

void expect_near(const Box& found, const Box& expected) {
  constexpr float kPixels = 0.02f;
  EXPECT_NEAR(found.x0, expected.x0, kPixels);
  EXPECT_NEAR(found.y0, expected.y0, kPixels);
  EXPECT_NEAR(found.x1, expected.x1, kPixels);
  EXPECT_NEAR(found.y1, expected.y1, kPixels);
}

class DetectorParity : public ::testing::TestWithParam<std::tuple<Halting, Stem, UnitKind>> {};

TEST_P(DetectorParity, EngineFindsWhatLibTorchFinds) {
  const auto [halting, stem, unit] = GetParam();
  const ModelSpec spec = random_spec(halting, stem, unit);
  int compared = 0, objects = 0;
  const DetectionOptions options{0.3f, 10, 0.6f};  // few enough that none is near another's score
  for (uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const test::TemporaryDirectory directory;
    // Head and proposals start near zero; for a comparison their scores must differ.
    std::vector<Weight> weights = test::random_weights(spec, seed);
    Random random(seed);
    for (Weight& weight : weights) {
      if (weight.info.role != WeightRole::kLinear) continue;
      for (float& value : weight.values) value = float(0.1 * random.normal());
    }
    write_model(directory / "detector.safetensors", spec, weights);
    const ModelFile file(directory / "detector.safetensors");
    const Size size{72, 95};
    const torch::Tensor image = test::random_images(1, size.height, size.width, seed + 10);
    const std::vector<float> planes(image.data_ptr<float>(),
                                    image.data_ptr<float>() + image.numel());
    const train::DetectionOutput expected =
        train::detect(train::load_detector(file), image, options);
    for (const kernels::Table* table : kernels::available_tables()) {
      SCOPED_TRACE(table->name);
      ObjectDetector detector =
          engine::test::detector_on(file, *table, kernels::DataType::kFloat32, 2);
      const DetectorOutputs found = detector.run(planes_view(planes, 1, size));
      bool same_units = true;
      for (size_t block = 0; block < found.extractor.blocks.size(); ++block) {
        same_units &= found.extractor.blocks[block].units == expected.extracted.blocks[block].units;
      }
      // A score at the threshold may fall on either side, and then everything after it differs.
      if (!same_units) continue;
      EXPECT_EQ(found.extractor.flops, expected.extracted.flops);
      ASSERT_EQ(found.proposals.boxes.size(), expected.proposals.size());
      for (size_t i = 0; i < found.proposals.boxes.size(); ++i) {
        expect_near(found.proposals.boxes[i], expected.proposals[i]);
      }
      ASSERT_EQ(int64_t(found.boxes.outputs.size()), expected.outputs.numel());
      EXPECT_LT(difference(found.boxes.outputs, span_of(expected.outputs)), 1e-3);
      const auto detections =
          find_detections(found.proposals.boxes, found.boxes.outputs, spec.classes, size, options);
      ASSERT_EQ(detections.size(), expected.detections.size());
      for (size_t i = 0; i < detections.size(); ++i) {
        EXPECT_EQ(detections[i].label, expected.detections[i].label) << i;
        EXPECT_NEAR(detections[i].score, expected.detections[i].score, 1e-3) << i;
        expect_near(detections[i].box, expected.detections[i].box);
      }
      objects += int(detections.size());
      ++compared;
    }
  }
  EXPECT_GE(compared, 2 * int(kernels::available_tables().size()));
  EXPECT_GT(objects, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Detectors, DetectorParity,
    ::testing::Values(std::tuple(Halting::kNone, Stem::kImageNet, UnitKind::kBottleneck),
                      std::tuple(Halting::kSact, Stem::kImageNet, UnitKind::kBottleneck),
                      std::tuple(Halting::kAct, Stem::kSmall, UnitKind::kBottleneck),
                      std::tuple(Halting::kSact, Stem::kSmall, UnitKind::kBasic),
                      std::tuple(Halting::kSact, Stem::kImageNet, UnitKind::kBottleneckV1),
                      std::tuple(Halting::kNone, Stem::kSmall, UnitKind::kBasicV1)));

}  // namespace
}  // namespace sact::detect
