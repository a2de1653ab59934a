// Ponder cost maps of whole images, by the engine.
#include <gtest/gtest.h>

#include "engine/cpu/session.h"
#include "engine/detectors.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "saliency/evaluate.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact::saliency {
namespace {

constexpr Size kSeen{70, 122};

class PonderMaps : public ::testing::Test {
 protected:
  ModelFile write(const ModelSpec& spec) {
    write_model(directory_ / "m.safetensors", spec, test::random_weights(spec, 5));
    return ModelFile(directory_ / "m.safetensors");
  }

  /// Images of different sizes.
  std::vector<Stimulus> items(int count) {
    std::vector<Stimulus> items;
    for (int i = 0; i < count; ++i) {
      Random random{uint64_t(i)};
      io::RgbImage image(140 + 9 * i, 80 + 5 * i);
      for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
      items.push_back({"all", directory_ / (std::to_string(i) + ".png"), {}});
      io::write_image(items.back().image, image);
    }
    return items;
  }

  std::vector<float> input(const Stimulus& item, const ModelSpec& spec) {
    const io::RgbImage image = io::read_image(item.image);
    return network_input(image, io::whole(image), kSeen, spec.input);
  }

  test::TemporaryDirectory directory_;
};

/// Equal up to rounding, which depends on the batch.
void expect_near(const Map& map, const Map& expected) {
  ASSERT_EQ(map.height, expected.height);
  ASSERT_EQ(map.values.size(), expected.values.size());
  for (size_t i = 0; i < map.values.size(); ++i) {
    ASSERT_NEAR(map.values[i], expected.values[i], 1e-4) << i;
  }
}

TEST_F(PonderMaps, EveryImageHasItsOwnWhateverTheBatch) {
  const ModelFile file = write(test::tiny_spec(Halting::kSact));
  engine::CpuSession session(std::make_shared<engine::Plan>(file, kernels::scalar_table()), 2);
  const std::vector<Stimulus> all = items(11);  // a whole batch and some
  const saliency::PonderMaps found = ponder_maps(session, file.spec(), all, kSeen, {.threads = 2});
  ASSERT_EQ(found.maps.size(), all.size());
  double flops = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const ImageResult alone = session.run(input(all[i], file.spec()), 1, kSeen).front();
    expect_near(found.maps[i], ponder_cost_map(alone));
    flops += double(alone.flops);
  }
  EXPECT_NE(found.maps[0].values, found.maps[1].values);
  EXPECT_EQ(found.flops, flops);
  EXPECT_EQ(found.dense_flops, 11 * double(dense_flops(file.spec(), kSeen)));
}

TEST_F(PonderMaps, ThoseOfADetectorAreItsExtractors) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {1, 3, 3});
  spec.detection.emplace();
  spec.detection->anchor_sizes = {12, 30};
  spec.detection->proposals = 5;
  const ModelFile file = write(spec);
  engine::CpuSession session(std::make_shared<engine::Plan>(file, kernels::scalar_table()), 2);
  const std::vector<Stimulus> all = items(2);
  const saliency::PonderMaps found = ponder_maps(session, spec, all, kSeen, {});
  detect::ObjectDetector detector =
      engine::test::detector_on(file, kernels::scalar_table(), kernels::DataType::kFloat32, 2);
  double flops = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const detect::DetectorOutputs outputs =
        detector.run(planes_view(input(all[i], spec), 1, kSeen));
    ASSERT_EQ(outputs.extractor.blocks.size(), 2u) << "all but the last";
    expect_near(found.maps[i], ponder_cost_map(outputs.extractor));
    flops += double(outputs.extractor.flops);
  }
  EXPECT_EQ(found.flops, flops);
  EXPECT_EQ(found.dense_flops, 2 * double(dense_flops(extractor_spec(spec), kSeen)));
}

TEST_F(PonderMaps, DetectorsSeeImagesTwiceAsLarge) {
  ModelSpec spec = test::tiny_spec(Halting::kSact);
  EXPECT_EQ(usual_size(spec), (Size{180, 320}));
  spec.detection.emplace();
  EXPECT_EQ(usual_size(spec), (Size{360, 640}));
}

}  // namespace
}  // namespace sact::saliency
