#include "train/detect/measure_norms.h"

#include "base/error.h"
#include "base/random.h"
#include "data/order.h"
#include "io/resize.h"
#include "train/adapt/dense_start.h"

namespace sact::train {
namespace {

constexpr size_t kPictures = 64, kBatch = 16;
constexpr size_t kBoxes = 4;  // of a picture

/// Pictures [B, 3, side, side] from 0 to 255, squashed to squares so that they fit into one batch.
std::vector<torch::Tensor> square_batches(int64_t dataset_size, const StoredPictures& pictures,
                                          int side, uint64_t seed) {
  std::vector<torch::Tensor> batches, batch;
  for (const int64_t index : data::epoch_order(dataset_size, seed, 0, /*shuffle=*/true)) {
    io::RgbImage picture;
    try {
      picture = io::resized(*pictures.get(index), {side, side});
    } catch (const Error&) {
      continue;  // named when it is met in training
    }
    batch.push_back(torch::from_blob(picture.rgb.data(), {side, side, 3}, torch::kUInt8).clone());
    if (batch.size() == kBatch) {
      batches.push_back(torch::stack(batch).permute({0, 3, 1, 2}));
      batch.clear();
    }
    if (batches.size() * kBatch >= kPictures) break;
  }
  if (!batch.empty()) batches.push_back(torch::stack(batch).permute({0, 3, 1, 2}));
  return batches;
}

/// The whole picture, and parts of it.
std::vector<Box> some_boxes(Size image, Random& random) {
  std::vector<Box> boxes = {{0, 0, float(image.width), float(image.height)}};
  while (boxes.size() < kBoxes) {
    const double x0 = random.uniform(0, 0.7), y0 = random.uniform(0, 0.7);
    const double x1 = random.uniform(x0 + 0.1, 1), y1 = random.uniform(y0 + 0.1, 1);
    boxes.push_back(detect::scaled({float(x0), float(y0), float(x1), float(y1)}, float(image.width),
                                   float(image.height)));
  }
  return boxes;
}

}  // namespace

void measure_detector_norms(Detector detector, int64_t dataset_size, const StoredPictures& pictures,
                            uint64_t seed) {
  torch::NoGradGuard no_grad;
  const int side = detector->spec().detection->shorter_side;
  const torch::Device device = detector->parameters().front().device();
  const std::vector<torch::Tensor> batches = square_batches(dataset_size, pictures, side, seed);
  const auto input = [&](size_t batch) {
    return network_input(batches[batch], detector->spec().input, device).contiguous();
  };
  size_t next = 0;
  measure_halting_norms(detector->extractor(), [&]() -> torch::Tensor {
    return next < batches.size() ? input(next++) : torch::Tensor();
  });
  next = 0;
  Random random(seed);
  measure_halting_norms(detector->boxes(), [&]() -> torch::Tensor {
    if (next == batches.size()) return {};
    const torch::Tensor images = input(next++);
    const Size size = size_of(images);
    std::vector<std::vector<Box>> boxes;
    for (int64_t i = 0; i < images.size(0); ++i) boxes.push_back(some_boxes(size, random));
    std::vector<ImageBoxes> of_images;
    for (const std::vector<Box>& own : boxes) of_images.push_back({own, size});
    return detector->crop(detector->extract(images).features, of_images);
  });
}

}  // namespace sact::train
