// detect::crop_and_resize with gradients.
#pragma once

#include <span>

#include "detect/crop.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// Throws sact::Error when so many crops do not fit into the memory that is there.
void expect_crop_memory(int64_t boxes, int64_t channels, int64_t crop);

/// Crops of one image's features [1, C, H, W]: [boxes, C, crop, crop], with the numbers of
/// detect::crop_and_resize. Gradients go to the features.
torch::Tensor crop_and_resize(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                              int crop);

/// The maxima of pool x pool samples of each crop: [boxes, C, cells, cells].
torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                            const detect::CropSettings& settings);

}  // namespace sact::train
