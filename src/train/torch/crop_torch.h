// detect::crop_and_resize with gradients, for the images of a batch.
#pragma once

#include <span>
#include <vector>

#include "detect/crop.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// Throws sact::Error when so many crops do not fit into the memory that is there.
void expect_crop_memory(int64_t boxes, int64_t channels, int64_t crop);

/// Boxes of one image of a batch, in shares of its own features, which lie in the first rows and
/// columns.
struct ImageCrops {
  std::vector<detect::CropBox> boxes;
  Size size;  // of its features
};

/// By samples, or by products with matrices of weights. The numbers agree to rounding. Samples are
/// less work. But on a GPU their gradients are added one by one to where several boxes overlap;
/// products have none of that, and give crops in the layout that convolutions want.
enum class CropBy { kSamples, kProducts };

/// The maxima of pool x pool samples of every crop from features [B, C, H, W]: [boxes, C, cells,
/// cells], those of one image after the other, with the numbers of detect::crop_and_pool. `images`
/// has one entry for each of the batch. Gradients go to the features.
torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const ImageCrops> images,
                            const detect::CropSettings& settings, CropBy by);
/// By products on a GPU where gradients are wanted, elsewhere by samples.
torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const ImageCrops> images,
                            const detect::CropSettings& settings);

}  // namespace sact::train
