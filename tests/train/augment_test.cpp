// Augmentation: crops, flips and colours, against direct computation.
#include "train/classify/augment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/resize.h"

namespace sact::train {
namespace {

const InputSpec kPlainInput = [] {
  InputSpec input;
  input.mean = {0, 0, 0};
  input.std = {1, 1, 1};
  return input;
}();

TrainSettings no_changes() {
  TrainSettings settings;
  settings.crop_min_area = 1;
  settings.crop_max_aspect = 1;
  settings.flip = settings.brightness = settings.contrast = settings.saturation = settings.hue = 0;
  return settings;
}

torch::Tensor random_pixels(int64_t count, int64_t side, uint64_t seed) {
  torch::Tensor pixels = torch::empty({count, 3, side, side}, torch::kUInt8);
  Random random(seed);
  for (int64_t i = 0; i < pixels.numel(); ++i)
    pixels.data_ptr<uint8_t>()[i] = uint8_t(random.bits());
  return pixels;
}

TEST(Augment, WithoutChangesTheImageStays) {
  const torch::Tensor pixels = random_pixels(2, 40, 1);
  std::vector<Augmentation> augmentations;
  for (int64_t i = 0; i < 2; ++i) {
    augmentations.push_back(draw_augmentation(no_changes(), 1, 0, i, 1.0f, {}));
  }
  const torch::Tensor result = augment_batch(pixels, augmentations, 40, kPlainInput);
  EXPECT_LT((result - pixels.to(torch::kFloat32) / 255).abs().max().item<double>(), 2e-3)
      << "the YIQ matrices are inverses of each other to three digits";
}

TEST(Augment, FlipMirrorsColumns) {
  TrainSettings settings = no_changes();
  settings.flip = 1;
  const torch::Tensor pixels = random_pixels(1, 32, 2);
  const torch::Tensor result =
      augment_batch(pixels, {draw_augmentation(settings, 1, 0, 0, 1.0f, {})}, 32, kPlainInput);
  EXPECT_LT((result - pixels.flip(3).to(torch::kFloat32) / 255).abs().max().item<double>(), 2e-3);
}

TEST(Augment, DependsOnSeedEpochAndIndexAlone) {
  const TrainSettings settings;
  auto crop = [&](uint64_t seed, int64_t epoch, int64_t index) {
    return draw_augmentation(settings, seed, epoch, index, 1.0f, {}).crop;
  };
  EXPECT_EQ(crop(1, 2, 3), crop(1, 2, 3));
  EXPECT_FALSE(crop(1, 2, 3) == crop(2, 2, 3));
  EXPECT_FALSE(crop(1, 2, 3) == crop(1, 3, 3));
  EXPECT_FALSE(crop(1, 2, 3) == crop(1, 2, 4));
}

TEST(Augment, CropsHaveTheirAreaAndAspectInTheOriginalImage) {
  Random random(5);
  double smallest = 1, largest = 0;
  for (int i = 0; i < 5000; ++i) {
    const float aspect = 1.5f;  // the original is wider than the stored square
    const auto crop = random_crop(random, 0.2, 4.0 / 3, aspect, {});
    const double width = crop.x1 - crop.x0, height = crop.y1 - crop.y0;
    ASSERT_GE(crop.x0, 0);
    ASSERT_GE(crop.y0, 0);
    ASSERT_LE(crop.x1, 1 + 1e-6);
    ASSERT_LE(crop.y1, 1 + 1e-6);
    if (width > 0.9999 && height > 0.9999) continue;  // gave up: the whole image
    const double ratio = width * aspect / height;
    EXPECT_GT(ratio, 0.75 - 1e-4);
    EXPECT_LT(ratio, 4.0 / 3 + 1e-4);
    smallest = std::min(smallest, width * height);
    largest = std::max(largest, width * height);
  }
  EXPECT_NEAR(smallest, 0.2, 0.02);
  EXPECT_GT(largest, 0.8);
}

TEST(Augment, CropsShowAPartOfTheBox) {
  Random random(6);
  const data::NormalizedBox box{0.7f, 0.7f, 0.9f, 0.9f};
  for (int i = 0; i < 2000; ++i) {
    const auto crop = random_crop(random, 0.05, 4.0 / 3, 1.0f, box);
    const float width = std::min(crop.x1, box.x1) - std::max(crop.x0, box.x0);
    const float height = std::min(crop.y1, box.y1) - std::max(crop.y0, box.y0);
    ASSERT_GT(width, 0);
    ASSERT_GT(height, 0);
    EXPECT_GE(width * height, 0.1f * 0.04f - 1e-6f);
  }
}

/// The image after one drawn change of colours, without the clamp to [0, 1].
torch::Tensor changed(const torch::Tensor& image, const TrainSettings& settings, uint64_t seed) {
  Augmentation a = draw_augmentation(no_changes(), 0, 0, 0, 1.0f, {});
  a.color = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  a.mean_color = {};
  a.offset = {};
  Random random(seed);
  random_color(random, settings, a);
  auto matrix = [](const std::array<float, 9>& m) {
    return torch::tensor(std::vector<float>(m.begin(), m.end())).view({3, 3});
  };
  const torch::Tensor flat = image.view({3, -1});
  return matrix(a.color).mm(flat) + matrix(a.mean_color).mm(flat.mean(1, true)) +
         torch::tensor(std::vector<float>(a.offset.begin(), a.offset.end())).view({3, 1});
}

TEST(Augment, ContrastKeepsTheMeanAndScalesTheSpread) {
  TrainSettings settings = no_changes();
  settings.contrast = 0.5;
  const torch::Tensor image = torch::rand({3, 8, 8});
  const torch::Tensor flat = image.view({3, -1});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const torch::Tensor result = changed(image, settings, seed);
    EXPECT_LT((result.mean(1) - flat.mean(1)).abs().max().item<double>(), 5e-3);
    const torch::Tensor factor = result.std(1) / flat.std(1);
    EXPECT_GT(factor.min().item<double>(), 0.49);
    EXPECT_LT(factor.max().item<double>(), 1.51);
    EXPECT_LT((factor - factor.mean()).abs().max().item<double>(), 1e-2) << "one factor for all";
  }
}

TEST(Augment, SaturationKeepsGreyAndLuma) {
  TrainSettings settings = no_changes();
  settings.saturation = 0.9;
  const torch::Tensor grey = torch::rand({1, 8, 8}).expand({3, 8, 8}).contiguous();
  EXPECT_LT((changed(grey, settings, 3) - grey.view({3, -1})).abs().max().item<double>(), 5e-3);
  const torch::Tensor image = torch::rand({3, 8, 8});
  const torch::Tensor luma = torch::tensor({0.299f, 0.587f, 0.114f}).view({1, 3});
  const torch::Tensor result = changed(image, settings, 4);
  EXPECT_LT((luma.mm(result) - luma.mm(image.view({3, -1}))).abs().max().item<double>(), 5e-3);
  EXPECT_GT((result - image.view({3, -1})).abs().max().item<double>(), 0.02)
      << "colours did change";
}

TEST(Augment, BrightnessShiftsAllChannelsAlike) {
  TrainSettings settings = no_changes();
  settings.brightness = 0.3;
  const torch::Tensor image = torch::rand({3, 8, 8});
  const torch::Tensor shift = changed(image, settings, 5) - image.view({3, -1});
  EXPECT_LT((shift - shift.mean()).abs().max().item<double>(), 5e-3);
  EXPECT_GT(std::abs(shift.mean().item<double>()), 0.01);
  EXPECT_LT(std::abs(shift.mean().item<double>()), 0.31);
}

TEST(Augment, EvaluationEqualsTheSingleImagePath) {
  const torch::Tensor pixels = random_pixels(1, 64, 9);
  io::RgbImage image(64, 64);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      for (int c = 0; c < 3; ++c) image.pixel(x, y)[c] = pixels[0][c][y][x].item<uint8_t>();
    }
  }
  const InputSpec input;
  const torch::Tensor batch = evaluation_batch(pixels, {40, 48}, input);
  std::vector<float> single = io::resize(image, io::central_crop(image, input.crop), {40, 48});
  for (size_t c = 0; c < 3; ++c) {
    for (size_t i = 0; i < 40 * 48; ++i) {
      float& value = single[c * 40 * 48 + i];
      value = float((value / 255 - input.mean[c]) / input.std[c]);
    }
  }
  const torch::Tensor expected = torch::from_blob(single.data(), {1, 3, 40, 48}, torch::kFloat32);
  EXPECT_LT((batch - expected).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace sact::train
