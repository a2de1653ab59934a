// The CPU engine through the interface that all back ends have.
#include "engine/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "engine/backends.h"
#include "support/errors.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact {
namespace {

class CpuBackend : public ::testing::Test {
 protected:
  ModelFile file_of(const ModelSpec& spec) {
    write_model(directory_ / "m", spec, test::random_weights(spec, 1));
    return ModelFile(directory_ / "m");
  }

  test::TemporaryDirectory directory_;
  const std::unique_ptr<const Backend> backend_ = engine::make_cpu_backend();
};

/// Planes, pixel by pixel.
std::vector<float> interleaved(const std::vector<float>& planes, int count, Size size) {
  std::vector<float> pixels(planes.size());
  const size_t plane = size_t(size.positions());
  for (size_t image = 0; image < size_t(count); ++image) {
    for (size_t i = 0; i < 3 * plane; ++i) {
      pixels[3 * image * plane + i % plane * 3 + i / plane] = planes[3 * image * plane + i];
    }
  }
  return pixels;
}

TEST_F(CpuBackend, PixelsAndPlanesOfTheSameImagesGiveTheSameBits) {
  const ModelFile file = file_of(test::tiny_spec(Halting::kSact));
  const Size size{48, 56};
  const std::vector<float> planes = test::random_planes(3, size, 2);
  const std::vector<float> pixels = interleaved(planes, 3, size);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const auto session =
        backend_->load(image_network_of(file), {.precision = precision})->session(2);
    const auto right = session->run(planes_view(planes, 3, size));
    const auto found = session->run(pixels_view(pixels, 3, size));
    ASSERT_EQ(found.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found[i].logits, right[i].logits);
      EXPECT_EQ(found[i].flops, right[i].flops);
    }
    EXPECT_NE(found[0].logits, found[1].logits);
  }
}

TEST_F(CpuBackend, ADetectorsFeaturesStayWithItsSession) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {1, 2, 2});
  spec.detection.emplace();
  spec.detection->anchor_sizes = {12, 30};
  spec.detection->proposals = 5;
  const ModelFile file = file_of(spec);
  const auto detector = backend_->load_detector(detector_of(file), {});
  const Size size{64, 80};
  const std::vector<float> first = test::random_planes(1, size, 3);
  const std::vector<float> second = test::random_planes(1, size, 4);
  const std::vector<Box> boxes = {{0, 0, 40, 40}, {10, 20, 70, 60}};
  const auto alone = detector->session(1), one = detector->session(1), other = detector->session(1);
  alone->extract(planes_view(first, 1, size));
  const BoxOutputs right = alone->classify(boxes);
  one->extract(planes_view(first, 1, size));
  other->extract(planes_view(second, 1, size));
  EXPECT_EQ(one->classify(boxes).outputs, right.outputs);
  EXPECT_NE(other->classify(boxes).outputs, right.outputs);
  EXPECT_EQ(right.maps.size(), boxes.size());
}

TEST_F(CpuBackend, LayersAreTimedByName) {
  const ModelFile file = file_of(test::tiny_spec(Halting::kNone));
  const auto session = backend_->load(image_network_of(file), {})->session(1);
  const Size size{32, 32};
  const std::vector<float> planes = test::random_planes(1, size, 5);
  const std::vector<LayerTime> layers = session->time_layers(planes_view(planes, 1, size));
  ASSERT_GT(layers.size(), 4u);
  EXPECT_EQ(layers.front().name, "stem.conv");
  EXPECT_EQ(layers.back().name, "head.fc");
  EXPECT_EQ(layers.back().product(), "32 to 6");
  for (const LayerTime& layer : layers) {
    EXPECT_GT(layer.operations(), 0) << layer.name;
    EXPECT_GT(layer.seconds, 0) << layer.name;
  }
}

TEST_F(CpuBackend, IsTheFirstOfTheEngines) {
  BackendRegistry registry;
  engine::add_backends(registry);
  EXPECT_EQ(registry.choose({}).name(), "engine");
  EXPECT_EQ(registry.choose({.precision = Precision::kBFloat16, .detector = true}).name(),
            "engine");
}

TEST_F(CpuBackend, AClassifierIsNoDetector) {
  const ModelFile file = file_of(test::tiny_spec(Halting::kNone));
  EXPECT_EQ(test::error_of([&] { detector_of(file); }),
            (directory_ / "m").string() +
                ": classifies images and does not find objects in them: use 'sact predict'");
}

TEST_F(CpuBackend, ASessionTellsItsThreadsInTheLog) {
  const ModelFile file = file_of(test::tiny_spec(Halting::kNone));
  const auto network = backend_->load(image_network_of(file), {});
  const LogLevel before = log_level();
  set_log_level(LogLevel::kVerbose);
  testing::internal::CaptureStderr();
  network->session(2);
  const std::string log = testing::internal::GetCapturedStderr();
  set_log_level(before);
  EXPECT_NE(log.find("kernels in fp32 with 2 threads"), std::string::npos) << log;
}

}  // namespace
}  // namespace sact
