// Our resizing is LibTorch's antialiased bilinear one: evaluation on batches and `predict` agree.
#include <gtest/gtest.h>

#include "base/random.h"
#include "io/resize.h"
#include "model/preprocess.h"
#include "train/classify/augment.h"
#include "train/torch/libtorch.h"

namespace sact::train {
namespace {

TEST(Resize, EqualsLibTorchForEveryScale) {
  const uint64_t seed = 51;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 30; ++i) {
    io::RgbImage image(1 + int(random.below(60)), 1 + int(random.below(60)));
    for (uint8_t& value : image.rgb) value = uint8_t(random.bits());
    const Size size{1 + int(random.below(60)), 1 + int(random.below(60))};
    const torch::Tensor source =
        torch::from_blob(image.rgb.data(), {1, image.height, image.width, 3}, torch::kUInt8)
            .permute({0, 3, 1, 2})
            .to(torch::kFloat32)
            .contiguous();
    const torch::Tensor expected =
        at::_upsample_bilinear2d_aa(source, {size.height, size.width}, /*align_corners=*/false);
    std::vector<float> found = io::resize(image, io::whole(image), size);
    const torch::Tensor ours =
        torch::from_blob(found.data(), {1, 3, size.height, size.width}, torch::kFloat32);
    EXPECT_LT((expected - ours).abs().max().item<double>(), 0.01)
        << image.height << "x" << image.width << " to " << size.height << "x" << size.width;
  }
}

TEST(EvaluationBatch, EqualsTheInputOfSingleImages) {
  Random random(52);
  for (const int side : {32, 41, 64}) {
    io::RgbImage image(side, side);
    for (uint8_t& value : image.rgb) value = uint8_t(random.bits());
    const torch::Tensor pixels =
        torch::from_blob(image.rgb.data(), {1, side, side, 3}, torch::kUInt8).permute({0, 3, 1, 2});
    for (const Size size : {Size{32, 48}, Size{64, 40}}) {
      InputSpec input;
      input.crop = 0.8;
      const torch::Tensor expected = evaluation_batch(pixels.contiguous(), size, input);
      std::vector<float> found =
          network_input(image, io::central_crop(image, input.crop), size, input);
      const torch::Tensor ours =
          torch::from_blob(found.data(), {1, 3, size.height, size.width}, torch::kFloat32);
      EXPECT_LT((expected - ours).abs().max().item<double>(), 1e-4) << side;
    }
  }
}

}  // namespace
}  // namespace sact::train
