// Images of different sizes in one batch: which positions of its maps belong to them.
#pragma once

#include <span>

#include "base/size.h"
#include "model/spec.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// Of a batch whose images are padded to a common size after their last rows and columns. What
/// takes it into account gives each image the numbers that it has alone: convolutions see zeros
/// beyond its edges, pooling nothing, and means are over its own positions.
class ImageAreas {
 public:
  /// Every image fills the batch.
  ImageAreas() = default;
  /// Of images that a network of that spec sees; all fill the batch where none is smaller than it.
  ImageAreas(const ModelSpec& spec, std::span<const Size> images, Size padded);
  /// From what sizes() gave; undefined: every image fills the batch.
  explicit ImageAreas(torch::Tensor sizes) : sizes_(std::move(sizes)) {}

  explicit operator bool() const { return sizes_.defined(); }
  /// int64 [2 + blocks, B, 2]: rows and columns that are the image's own, in the image, after the
  /// stem's convolution and in each block. Undefined where every image fills the batch.
  const torch::Tensor& sizes() const { return sizes_; }

  static constexpr int64_t kImage = 0, kStem = 1;
  static int64_t level_of(int block) { return 2 + block; }

  /// [B, 1, H, W], true where maps of that size are padding; undefined where every image fills the
  /// batch.
  torch::Tensor outside(int64_t level, Size maps) const;
  /// [B]: an image's own positions, as real numbers; undefined where every image fills the batch.
  torch::Tensor positions(int64_t level) const;

 private:
  torch::Tensor sizes_;
};

/// Of maps [batch, channels, H, W].
Size size_of(const torch::Tensor& maps);

/// `maps` with `value` at padding; as they are where `outside` is undefined.
torch::Tensor filled(const torch::Tensor& maps, const torch::Tensor& outside, double value = 0);

}  // namespace sact::train
