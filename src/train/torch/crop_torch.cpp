#include "train/torch/crop_torch.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/torch/halting_torch.h"

namespace sact::train {
namespace {

using Edge = float detect::CropBox::*;

int64_t most_boxes(std::span<const ImageCrops> images) {
  size_t most = 0;
  for (const ImageCrops& image : images) most = std::max(most, image.boxes.size());
  return int64_t(most);
}

int64_t all_boxes(std::span<const ImageCrops> images) {
  int64_t sum = 0;
  for (const ImageCrops& image : images) sum += int64_t(image.boxes.size());
  return sum;
}

/// Of one side of all boxes: use(number of the sample, sample). Every image has room for `most`
/// boxes.
template <typename Use>
void for_each_sample(std::span<const ImageCrops> images, int64_t most, int crop, int Size::*extent,
                     Edge first, Edge last, const Use& use) {
  for (size_t i = 0; i < images.size(); ++i) {
    for (size_t box = 0; box < images[i].boxes.size(); ++box) {
      const detect::CropBox& at = images[i].boxes[box];
      for (int k = 0; k < crop; ++k) {
        use((int64_t(i) * most + int64_t(box)) * crop + k,
            detect::crop_sample(at.*first, at.*last, images[i].size.*extent, k, crop));
      }
    }
  }
}

/// Where the samples of one side lie, [B, most, crop], for grid_sampler: from -1, the middle of the
/// first of `positions`, to 1, that of the last; far outside where the value is 0.
torch::Tensor sample_places(std::span<const ImageCrops> images, int64_t most, int crop,
                            int64_t positions, int Size::*extent, Edge first, Edge last) {
  constexpr float kOutside = 4;
  torch::Tensor places = torch::full({int64_t(images.size()), most, crop}, kOutside);
  float* values = places.data_ptr<float>();
  for_each_sample(images, most, crop, extent, first, last,
                  [&](int64_t number, const detect::CropSample& sample) {
                    if (!sample.inside) return;
                    const double at = double(sample.low) + sample.weight;
                    values[number] = positions > 1 ? float(2 * at / double(positions - 1) - 1) : 0;
                  });
  return places;
}

/// The weights of positions in the samples of one side, [B, most * crop, positions].
torch::Tensor sample_weights(std::span<const ImageCrops> images, int64_t most, int crop,
                             int64_t positions, int Size::*extent, Edge first, Edge last) {
  torch::Tensor weights = torch::zeros({int64_t(images.size()), most * crop, positions});
  float* values = weights.data_ptr<float>();
  for_each_sample(images, most, crop, extent, first, last,
                  [&](int64_t number, const detect::CropSample& sample) {
                    if (!sample.inside) return;
                    values[number * positions + sample.low] += 1 - sample.weight;
                    values[number * positions + sample.high] += sample.weight;
                  });
  return weights;
}

/// Of [B * most, ...] the rows of boxes that are there.
torch::Tensor own_boxes(const torch::Tensor& rows, std::span<const ImageCrops> images,
                        int64_t most) {
  if (all_boxes(images) == rows.size(0)) return rows;
  torch::Tensor numbers = torch::empty({all_boxes(images)}, torch::kInt64);
  int64_t* next = numbers.data_ptr<int64_t>();
  for (size_t i = 0; i < images.size(); ++i) {
    for (size_t box = 0; box < images[i].boxes.size(); ++box) {
      *next++ = int64_t(i) * most + int64_t(box);
    }
  }
  return rows.index_select(0, numbers.to(rows.device()));
}

torch::Tensor by_samples(const torch::Tensor& features, std::span<const ImageCrops> images,
                         int64_t most, const detect::CropSettings& settings) {
  const int64_t batch = features.size(0), channels = features.size(1);
  const int crop = settings.crop;
  const auto options = at_least_float32(features).options().requires_grad(false);
  const torch::Tensor y = sample_places(images, most, crop, features.size(2), &Size::height,
                                        &detect::CropBox::y1, &detect::CropBox::y2)
                              .to(options);
  const torch::Tensor x = sample_places(images, most, crop, features.size(3), &Size::width,
                                        &detect::CropBox::x1, &detect::CropBox::x2)
                              .to(options);
  // All boxes of an image as one tall grid over it: its features are not repeated for each.
  const std::vector<int64_t> shape = {batch, most, crop, crop};
  const torch::Tensor grid =
      torch::stack({x.unsqueeze(2).expand(shape), y.unsqueeze(3).expand(shape)}, 4)
          .view({batch, most * crop, crop, 2});
  const torch::Tensor samples =
      torch::grid_sampler(at_least_float32(features), grid, /*bilinear*/ 0, /*zeros outside*/ 0,
                          /*align_corners=*/true);
  const int64_t cells = settings.cells();
  return torch::max_pool2d(samples, settings.pool)
      .view({batch, channels, most, cells, cells})
      .transpose(1, 2)
      .reshape({batch * most, channels, cells, cells});
}

torch::Tensor by_products(const torch::Tensor& features, std::span<const ImageCrops> images,
                          int64_t most, const detect::CropSettings& settings) {
  const int64_t batch = features.size(0), channels = features.size(1), height = features.size(2),
                width = features.size(3), crop = settings.crop;
  const auto options = features.options().requires_grad(false);
  const torch::Tensor y = sample_weights(images, most, settings.crop, height, &Size::height,
                                         &detect::CropBox::y1, &detect::CropBox::y2)
                              .to(options);
  const torch::Tensor x = sample_weights(images, most, settings.crop, width, &Size::width,
                                         &detect::CropBox::x1, &detect::CropBox::x2)
                              .to(options);
  const torch::Tensor rows = features.permute({0, 2, 3, 1}).contiguous();  // as it lies, on CUDA
  const torch::Tensor blended = torch::matmul(y, rows.view({batch, height, width * channels}))
                                    .view({batch * most, crop, width, channels});
  const torch::Tensor crops =
      torch::matmul(x.view({batch * most, 1, crop, width}), blended);  // [boxes, crop, crop, C]
  return torch::max_pool2d(crops.permute({0, 3, 1, 2}), settings.pool);
}

}  // namespace

void expect_crop_memory(int64_t boxes, int64_t channels, int64_t crop) {
  expect_memory(uint64_t(boxes * crop * crop * (channels + 2) * 4),
                fmt::format("cropping {} boxes to {}x{} features of {} channels", boxes, crop, crop,
                            channels));
}

torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const ImageCrops> images,
                            const detect::CropSettings& settings, CropBy by) {
  SACT_ASSERT(int64_t(images.size()) == features.size(0));
  const int64_t most = most_boxes(images);
  if (most == 0) {
    return features.new_zeros({0, features.size(1), settings.cells(), settings.cells()});
  }
  if (features.is_cpu()) {
    expect_crop_memory(most * features.size(0), features.size(1), settings.crop);
  }
  return own_boxes(by == CropBy::kProducts ? by_products(features, images, most, settings)
                                           : by_samples(features, images, most, settings),
                   images, most);
}

torch::Tensor crop_and_pool(const torch::Tensor& features, std::span<const ImageCrops> images,
                            const detect::CropSettings& settings) {
  const bool products = features.is_cuda() && torch::GradMode::is_enabled();
  return crop_and_pool(features, images, settings, products ? CropBy::kProducts : CropBy::kSamples);
}

}  // namespace sact::train
