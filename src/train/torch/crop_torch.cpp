#include "train/torch/crop_torch.h"

#include <vector>

#include "base/memory.h"
#include "base/text.h"
#include "train/torch/halting_torch.h"

namespace sact::train {
namespace {

/// Where the samples of one side of all boxes lie, for grid_sampler: from -1, the middle of the
/// first position, to 1, that of the last; far outside where the value is 0.
std::vector<float> sample_places(std::span<const detect::CropBox> boxes, int crop, int positions,
                                 float detect::CropBox::*first, float detect::CropBox::*last) {
  constexpr float kOutside = 4;
  std::vector<float> places;
  for (const detect::CropBox& box : boxes) {
    for (int i = 0; i < crop; ++i) {
      const detect::CropSample sample =
          detect::crop_sample(box.*first, box.*last, positions, i, crop);
      const double at = double(sample.low) + sample.weight;
      places.push_back(!sample.inside  ? kOutside
                       : positions > 1 ? float(2 * at / (positions - 1) - 1)
                                       : 0.0f);
    }
  }
  return places;
}

}  // namespace

void expect_crop_memory(int64_t boxes, int64_t channels, int64_t crop) {
  expect_memory(uint64_t(boxes * crop * crop * (channels + 2) * 4),
                fmt::format("cropping {} boxes to {}x{} features of {} channels", boxes, crop, crop,
                            channels));
}

torch::Tensor crop_and_resize(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                              int crop) {
  const int64_t count = int64_t(boxes.size()), channels = features.size(1);
  if (count == 0) return features.new_zeros({0, channels, crop, crop});
  if (features.is_cpu()) expect_crop_memory(count, channels, crop);
  const int height = int(features.size(2)), width = int(features.size(3));
  std::vector<float> y =
      sample_places(boxes, crop, height, &detect::CropBox::y1, &detect::CropBox::y2);
  std::vector<float> x =
      sample_places(boxes, crop, width, &detect::CropBox::x1, &detect::CropBox::x2);
  const auto options = at_least_float32(features).options().requires_grad(false);
  auto placed = [&](std::vector<float>& places) {
    return torch::from_blob(places.data(), {count, crop}, torch::kFloat32).to(options);
  };
  // All boxes as one tall grid over the one image: the features are not repeated for each.
  torch::Tensor grid = torch::stack({placed(x).view({count, 1, crop}).expand({count, crop, crop}),
                                     placed(y).view({count, crop, 1}).expand({count, crop, crop})},
                                    3);
  const torch::Tensor samples = torch::grid_sampler(
      at_least_float32(features), grid.view({1, count * crop, crop, 2}), /*bilinear*/ 0,
      /*zeros outside*/ 0, /*align_corners=*/true);
  return samples.view({channels, count, crop, crop}).transpose(0, 1);
}

torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const detect::CropBox> boxes,
                            const detect::CropSettings& settings) {
  return torch::max_pool2d(crop_and_resize(features, boxes, settings.crop), settings.pool);
}

}  // namespace sact::train
