// Augmentation and evaluation crops, as operations on whole batches on the training device.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/dataset.h"
#include "model/spec.h"
#include "train/classify/settings.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// A random change of one image: where it is cut, and an affine change of its colours
/// y = color * x + mean_color * mean(x) + offset for values x in [0, 1].
struct Augmentation {
  data::NormalizedBox crop;
  bool flip = false;
  std::array<float, 9> color, mean_color;
  std::array<float, 3> offset;
};

/// Draws the augmentation of one image in one epoch: a pure function of its arguments. `aspect` is
/// the original width over height; `box` is what the crop must show a part of.
Augmentation draw_augmentation(const PhotographSettings& settings, uint64_t seed, int64_t epoch,
                               int64_t index, float aspect, const data::NormalizedBox& box);

/// Inception-style random crop: a share of the area, an aspect ratio, and a place; with a box, at
/// least 10 % of the box stays visible (or the whole image is taken after 100 attempts).
data::NormalizedBox random_crop(Random& random, double min_area, double max_aspect, float aspect,
                                const data::NormalizedBox& box);

/// The four colour changes in random order. They are all affine in the colour and in the mean
/// colour of the image, and so is any sequence of them: one matrix product per image.
void random_color(Random& random, const PhotographSettings& settings, Augmentation& augmentation);

/// Applies them: `pixels` uint8 [B, 3, S, S] on the device, result [B, 3, size, size] normalised.
torch::Tensor augment_batch(const torch::Tensor& pixels,
                            const std::vector<Augmentation>& augmentations, int size,
                            const InputSpec& input);

/// The central crop of evaluation: uint8 [B, 3, S, S] to [B, 3, size.height, size.width]
/// normalised.
torch::Tensor evaluation_batch(const torch::Tensor& pixels, Size size, const InputSpec& input);

}  // namespace sact::train
