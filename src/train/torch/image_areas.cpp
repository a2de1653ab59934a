#include "train/torch/image_areas.h"

#include <algorithm>

namespace sact::train {

ImageAreas::ImageAreas(const ModelSpec& spec, std::span<const Size> images, Size padded) {
  const bool full =
      std::all_of(images.begin(), images.end(), [&](Size size) { return size == padded; });
  if (full) return;
  const auto count = int64_t(images.size());
  sizes_ = torch::empty({2 + spec.blocks(), count, 2}, torch::kInt64);
  auto values = sizes_.accessor<int64_t, 3>();
  for (int64_t i = 0; i < count; ++i) {
    const Size image = images[size_t(i)];
    const auto set = [&](int64_t level, Size size) {
      values[level][i][0] = size.height;
      values[level][i][1] = size.width;
    };
    set(kImage, image);
    set(kStem, spec.stem_size(image));
    for (int block = 0; block < spec.blocks(); ++block) {
      set(level_of(block), spec.block_size(block, image));
    }
  }
}

torch::Tensor ImageAreas::outside(int64_t level, Size maps) const {
  if (!sizes_.defined()) return {};
  const torch::Tensor own = sizes_[level];
  const auto beyond = [&](int64_t side, int64_t extent) {
    return torch::arange(extent, own.options()).view({1, extent}) >=
           own.select(1, side).view({-1, 1});
  };
  return beyond(0, maps.height)
      .unsqueeze(2)
      .logical_or(beyond(1, maps.width).unsqueeze(1))
      .unsqueeze(1);
}

torch::Tensor ImageAreas::positions(int64_t level) const {
  if (!sizes_.defined()) return {};
  return sizes_[level].prod(1).to(torch::kFloat32);
}

Size size_of(const torch::Tensor& maps) {
  return {int(maps.size(2)), int(maps.size(3))};
}

torch::Tensor filled(const torch::Tensor& maps, const torch::Tensor& outside, double value) {
  return outside.defined() ? maps.masked_fill(outside, value) : maps;
}

}  // namespace sact::train
