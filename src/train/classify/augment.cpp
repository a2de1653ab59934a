#include "train/classify/augment.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "train/torch/device.h"

namespace sact::train {
namespace {

using Matrix = std::array<float, 9>;
constexpr Matrix kIdentity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::array<float, 3> kLuma = {0.299f, 0.587f, 0.114f};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k)
        c[size_t(i * 3 + j)] += a[size_t(i * 3 + k)] * b[size_t(k * 3 + j)];
    }
  }
  return c;
}

/// Follows a change x -> m x through y = color x + mean_color mean + offset.
void apply_matrix(const Matrix& m, Augmentation& a) {
  a.color = product(m, a.color);
  a.mean_color = product(m, a.mean_color);
  std::array<float, 3> offset{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) offset[i] += m[i * 3 + k] * a.offset[k];
  }
  a.offset = offset;
}

/// Contrast: each channel moves away from its mean over the image by `factor`. The mean of y is
/// (color + mean_color) mean + offset.
void change_contrast(float factor, Augmentation& a) {
  for (size_t i = 0; i < 9; ++i) {
    const float mean_part = a.color[i] + a.mean_color[i];
    a.mean_color[i] = factor * a.mean_color[i] + (1 - factor) * mean_part;
    a.color[i] *= factor;
  }
  // The offset is common to all pixels and stays.
}

Matrix saturation_matrix(float factor) {
  Matrix m{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) m[i * 3 + j] = (1 - factor) * kLuma[j] + (i == j ? factor : 0);
  }
  return m;
}

/// Rotation of the chrominance plane of YIQ by `angle`.
Matrix hue_matrix(double angle) {
  constexpr Matrix kToYiq = {0.299f,   0.587f,  0.114f,   0.5959f, -0.2746f,
                             -0.3213f, 0.2115f, -0.5227f, 0.3112f};
  constexpr Matrix kFromYiq = {1, 0.956f, 0.619f, 1, -0.272f, -0.647f, 1, -1.106f, 1.703f};
  const float c = float(std::cos(angle)), s = float(std::sin(angle));
  const Matrix rotation = {1, 0, 0, 0, c, -s, 0, s, c};
  return product(kFromYiq, product(rotation, kToYiq));
}

float overlap(const data::NormalizedBox& a, const data::NormalizedBox& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return width > 0 && height > 0 ? width * height : 0;
}

torch::Tensor normalise(const torch::Tensor& images, const InputSpec& input) {
  std::vector<float> scale, shift;
  for (size_t c = 0; c < 3; ++c) {
    scale.push_back(float(1 / input.std[c]));
    shift.push_back(float(-input.mean[c] / input.std[c]));
  }
  const torch::Device device = images.device();
  return images * device_tensor(scale, {1, 3, 1, 1}, device) +
         device_tensor(shift, {1, 3, 1, 1}, device);
}

/// For grid_sample: where in the stored image (from -1 to 1) each output pixel's centre lies.
torch::Tensor sampling_grid(const std::vector<Augmentation>& augmentations, int size,
                            torch::Device device) {
  std::vector<float> affine;
  for (const Augmentation& a : augmentations) {
    const float width = a.crop.x1 - a.crop.x0, height = a.crop.y1 - a.crop.y0;
    affine.insert(affine.end(), {a.flip ? -width : width, 0, a.crop.x0 + a.crop.x1 - 1,  //
                                 0, height, a.crop.y0 + a.crop.y1 - 1});
  }
  const int64_t count = int64_t(augmentations.size());
  return torch::affine_grid_generator(device_tensor(affine, {count, 2, 3}, device),
                                      {count, 3, size, size}, /*align_corners=*/false);
}

}  // namespace

data::NormalizedBox random_crop(Random& random, double min_area, double max_aspect, float aspect,
                                const data::NormalizedBox& box) {
  constexpr int kAttempts = 100;
  constexpr float kVisible = 0.1f;
  const float box_area = (box.x1 - box.x0) * (box.y1 - box.y0);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double area = random.uniform(min_area, 1);
    // The ratio is one of the original image; the stored one may be squashed.
    const double ratio = std::exp(random.uniform(-std::log(max_aspect), std::log(max_aspect)));
    const float width = float(std::sqrt(area * ratio / aspect));
    const float height = float(std::sqrt(area * aspect / ratio));
    const float x = float(random.uniform()), y = float(random.uniform());
    if (width > 1 || height > 1) continue;
    const data::NormalizedBox crop{x * (1 - width), y * (1 - height), x * (1 - width) + width,
                                   y * (1 - height) + height};
    if (overlap(crop, box) >= kVisible * box_area) return crop;
  }
  return {};
}

void random_color(Random& random, const PhotographSettings& settings, Augmentation& augmentation) {
  std::array<int, 4> order = {0, 1, 2, 3};
  for (int i = 3; i > 0; --i) std::swap(order[size_t(i)], order[size_t(random.below(i + 1))]);
  auto around_one = [&](double range) { return float(random.uniform(1 - range, 1 + range)); };
  for (int change : order) {
    switch (change) {
      case 0: {
        const float shift = float(random.uniform(-settings.brightness, settings.brightness));
        for (float& offset : augmentation.offset) offset += shift;
        break;
      }
      case 1:
        apply_matrix(saturation_matrix(around_one(settings.saturation)), augmentation);
        break;
      case 2:
        apply_matrix(hue_matrix(random.uniform(-settings.hue, settings.hue) * M_PI), augmentation);
        break;
      default:
        change_contrast(around_one(settings.contrast), augmentation);
        break;
    }
  }
}

Augmentation draw_augmentation(const PhotographSettings& settings, uint64_t seed, int64_t epoch,
                               int64_t index, float aspect, const data::NormalizedBox& box) {
  Random random =
      Random::derived(Random::derived(seed, uint64_t(epoch) + 1).bits(), uint64_t(index));
  Augmentation augmentation;
  augmentation.color = kIdentity;
  augmentation.mean_color = {};
  augmentation.offset = {};
  augmentation.crop =
      random_crop(random, settings.crop_min_area, settings.crop_max_aspect, aspect, box);
  augmentation.flip = random.coin(settings.flip);
  random_color(random, settings, augmentation);
  return augmentation;
}

torch::Tensor augment_batch(const torch::Tensor& pixels,
                            const std::vector<Augmentation>& augmentations, int size,
                            const InputSpec& input) {
  const int64_t count = pixels.size(0);
  SACT_ASSERT(count == int64_t(augmentations.size()));
  const torch::Device device = pixels.device();
  const torch::Tensor stored = pixels.to(torch::kFloat32).div_(255);
  const torch::Tensor cut =
      torch::grid_sampler_2d(stored, sampling_grid(augmentations, size, device),
                             /*bilinear*/ 0, /*border padding*/ 1, /*align_corners=*/false);
  std::vector<float> color, mean_color, offset;
  for (const Augmentation& a : augmentations) {
    color.insert(color.end(), a.color.begin(), a.color.end());
    mean_color.insert(mean_color.end(), a.mean_color.begin(), a.mean_color.end());
    offset.insert(offset.end(), a.offset.begin(), a.offset.end());
  }
  const torch::Tensor mean = cut.mean({2, 3}).unsqueeze(2);
  const torch::Tensor constant =
      torch::baddbmm(device_tensor(offset, {count, 3, 1}, device),
                     device_tensor(mean_color, {count, 3, 3}, device), mean);
  const torch::Tensor changed =
      torch::baddbmm(constant, device_tensor(color, {count, 3, 3}, device),
                     cut.view({count, 3, int64_t(size) * size}));
  return normalise(changed.clamp_(0, 1).view({count, 3, size, size}), input);
}

torch::Tensor evaluation_batch(const torch::Tensor& pixels, Size size, const InputSpec& input) {
  const int64_t side = pixels.size(2);
  const int64_t kept = std::clamp<int64_t>(std::llround(double(side) * input.crop), 1, side);
  const int64_t start = (side - kept) / 2;
  const torch::Tensor crop = pixels.narrow(2, start, kept).narrow(3, start, kept);
  const torch::Tensor resized = at::_upsample_bilinear2d_aa(
      crop.to(torch::kFloat32).contiguous(), {size.height, size.width}, /*align_corners=*/false);
  return normalise(resized.div_(255), input);
}

}  // namespace sact::train
