// detect::crop_and_resize with gradients.
#pragma once

#include <span>

#include "detect/crop.h"
#include "train/libtorch.h"

namespace sact::train {

/// Crops of one image's features [1, C, H, W]: [boxes, C, crop, crop], with the numbers of
/// detect::crop_and_resize. Gradients go to the features.
torch::Tensor crop_and_resize(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                              int crop);

/// The maxima of pool x pool samples of each crop: [boxes, C, cells, cells].
torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                            const detect::CropSettings& settings);

}  // namespace sact::train
