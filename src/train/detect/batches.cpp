#include "train/detect/batches.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/random.h"
#include "base/start.h"
#include "io/resize.h"
#include "model/detection.h"

namespace sact::train {
namespace {

/// Copies a picture [3, H, W], whose colours of a pixel lie together, into the first rows and
/// columns of a place [H, W, 3].
void put(const torch::Tensor& picture, torch::Tensor place) {
  const torch::Tensor rows = picture.permute({1, 2, 0}).contiguous();
  const int64_t height = rows.size(0), bytes = rows.size(1) * 3;
  for (int64_t y = 0; y < height; ++y) {
    std::memcpy(place.data_ptr<uint8_t>() + y * place.stride(0),
                rows.data_ptr<uint8_t>() + y * bytes, size_t(bytes));
  }
}

}  // namespace

Size padded_size(std::span<const Size> pictures) {
  Size size = pictures.front();
  bool same = true;
  for (const Size picture : pictures) {
    same = same && picture == pictures.front();
    size.height = std::max(size.height, picture.height);
    size.width = std::max(size.width, picture.width);
  }
  if (same) return size;
  const auto rounded = [](int side) {
    return (side + kBatchSideStep - 1) / kBatchSideStep * kBatchSideStep;
  };
  return {rounded(size.height), rounded(size.width)};
}

std::vector<int64_t> similar_together(std::vector<int64_t> order, std::span<const Size> shapes,
                                      int64_t batch, uint64_t seed) {
  // All have one shorter side: from the tallest to the widest.
  const auto width_over_height = [&](int64_t sample) {
    const Size shape = shapes[size_t(sample)];
    return double(shape.width) / shape.height;
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return width_over_height(a) < width_over_height(b);
  });
  Random random(seed);
  const int64_t batches = int64_t(order.size()) / batch;
  for (int64_t last = batches - 1; last > 0; --last) {
    const int64_t other = random.below(last + 1);
    if (other == last) continue;
    const auto at = order.begin() + last * batch;
    std::swap_ranges(at, at + batch, order.begin() + other * batch);
  }
  return order;
}

StoredPictures::StoredPictures(const detect::DetectionDataset& dataset, int shorter_side, bool keep)
    : dataset_(dataset), keep_(keep) {
  detection_.shorter_side = shorter_side;
  if (keep_) kept_.resize(size_t(dataset.size()));
}

uint64_t StoredPictures::bytes(const detect::DetectionDataset& dataset, int shorter_side) {
  uint64_t sum = 0;
  for (int64_t index = 0; index < dataset.size(); ++index) {
    // A shape that no size will do for is an error of its own, when the picture is wanted.
    const Size whole = dataset.picture_size(index);
    const double scale = double(shorter_side) / std::max(std::min(whole.height, whole.width), 1);
    sum += uint64_t(3 * scale * scale * double(whole.positions()));
  }
  return sum;
}

std::shared_ptr<const io::RgbImage> StoredPictures::get(int64_t index) const {
  if (!keep_) return read(index);
  {
    const std::lock_guard lock(mutex_);
    if (kept_[size_t(index)]) return kept_[size_t(index)];
  }
  auto picture = read(index);
  const std::lock_guard lock(mutex_);
  kept_[size_t(index)] = picture;
  return picture;
}

std::shared_ptr<const io::RgbImage> StoredPictures::read(int64_t index) const {
  const Size size = detection_size(detection_, dataset_.picture_size(index));
  io::RgbImage image = dataset_.load(index, std::min(size.height, size.width));
  if (image.height != size.height || image.width != size.width) image = io::resized(image, size);
  return std::make_shared<const io::RgbImage>(std::move(image));
}

torch::Tensor network_input(const DetectionBatch& batch, const InputSpec& input,
                            torch::Device device) {
  // Colours of a pixel lie together, which is the layout that convolutions on a GPU want.
  const torch::Tensor images = network_input(
      batch.pixels.to(device, /*non_blocking=*/true).permute({0, 3, 1, 2}), input, device);
  return device.is_cuda() ? images.contiguous(torch::MemoryFormat::ChannelsLast)
                          : images.contiguous();
}

DetectionBatchLoader::DetectionBatchLoader(int64_t dataset_size, std::vector<int64_t> order,
                                           SampleLoader::Read read,
                                           const BatchLoaderOptions& options,
                                           data::CorruptSamples& corrupt)
    : options_(options),
      loader_(dataset_size, order, std::move(read), {options.workers, /*replace=*/true}, corrupt),
      left_(int64_t(order.size()) / options.batch) {
  start();
}

void DetectionBatchLoader::start() {
  if (left_ == 0) return;
  --left_;
  coming_ = start_async([this] { return make(); });
}

DetectionBatch DetectionBatchLoader::next() {
  SACT_ASSERT(coming_.valid());
  DetectionBatch batch = coming_.get();
  start();
  return batch;
}

DetectionBatch DetectionBatchLoader::make() {
  DetectionBatch batch;
  for (int i = 0; i < options_.batch; ++i) {
    SACT_ASSERT(loader_.next(batch.samples.emplace_back()));
    batch.sizes.push_back(batch.samples.back().size());
  }
  const Size size = padded_size(batch.sizes);
  batch.pixels = torch::zeros({options_.batch, size.height, size.width, 3},
                              torch::dtype(torch::kUInt8).pinned_memory(options_.pinned));
  for (int i = 0; i < options_.batch; ++i) {
    put(batch.samples[size_t(i)].pixels, batch.pixels[i]);
    batch.samples[size_t(i)].pixels = torch::Tensor();
  }
  return batch;
}

}  // namespace sact::train
