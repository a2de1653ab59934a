#include "train/detect/data_loader.h"

#include "base/error.h"
#include "base/start.h"
#include "io/resize.h"
#include "model/detection.h"

namespace sact::train {
namespace {

/// The objects of a picture, which has been scaled to `size`.
std::vector<detect::Object> scaled_objects(const detect::DetectionDataset& dataset, int64_t index,
                                           Size size, bool flipped) {
  const Size whole = dataset.picture_size(index);
  const float by_x = float(size.width) / float(whole.width);
  const float by_y = float(size.height) / float(whole.height);
  std::vector<detect::Object> objects = dataset.objects(index);
  for (detect::Object& object : objects) {
    object.box = detect::scaled(object.box, by_x, by_y);
    if (flipped) object.box = detect::flipped(object.box, size.width);
  }
  return objects;
}

}  // namespace

torch::Tensor network_input(const torch::Tensor& pixels, const InputSpec& input,
                            torch::Device device) {
  const auto options = torch::dtype(torch::kFloat32);
  auto per_colour = [&](const std::array<double, 3>& values) {
    return torch::tensor({float(values[0]), float(values[1]), float(values[2])}, options)
        .view({1, 3, 1, 1})
        .to(device, /*non_blocking=*/true);
  };
  const torch::Tensor there = pixels.to(device, /*non_blocking=*/true);
  return (there / 255 - per_colour(input.mean)) / per_colour(input.std);
}

torch::Tensor network_input(const DetectionSample& sample, const InputSpec& input,
                            torch::Device device) {
  return network_input(sample.pixels.unsqueeze(0), input, device);
}

DetectionSample read_sample(const detect::DetectionDataset& dataset, int64_t index,
                            const DetectionSpec& detection) {
  const Size size = detection_size(detection, dataset.picture_size(index));
  const io::RgbImage image = dataset.load(index, 0);
  const std::vector<float> planes = io::resize(image, io::whole(image), size);
  DetectionSample sample;
  sample.index = index;
  sample.pixels = torch::from_blob(const_cast<float*>(planes.data()), {3, size.height, size.width},
                                   torch::kFloat32)
                      .clone();
  sample.objects = scaled_objects(dataset, index, size, /*flipped=*/false);
  return sample;
}

DetectionSample training_sample(const detect::DetectionDataset& dataset, int64_t index,
                                const io::RgbImage& stored, const TrainingView& view) {
  DetectionSpec detection;
  detection.shorter_side = view.shorter_side;
  const Size size = detection_size(detection, dataset.picture_size(index));
  const bool same = stored.height == size.height && stored.width == size.width;
  const io::RgbImage other = same ? io::RgbImage() : io::resized(stored, size);
  const io::RgbImage& image = same ? stored : other;
  DetectionSample sample;
  sample.index = index;
  const torch::Tensor rows = torch::from_blob(const_cast<uint8_t*>(image.rgb.data()),
                                              {size.height, size.width, 3}, torch::kUInt8);
  sample.pixels = (view.flipped ? rows.flip(1) : rows.clone()).permute({2, 0, 1});
  sample.objects = scaled_objects(dataset, index, size, view.flipped);
  return sample;
}

SampleLoader::SampleLoader(int64_t dataset_size, std::vector<int64_t> order, Read read,
                           SampleLoaderOptions options, data::CorruptSamples& corrupt)
    : dataset_size_(dataset_size),
      order_(std::move(order)),
      read_(std::move(read)),
      options_(options),
      corrupt_(corrupt) {
  start_more();
}

void SampleLoader::start_more() {
  while (started_ < order_.size() && under_way_.size() < size_t(options_.workers) + 1) {
    const auto position = int64_t(started_++);
    under_way_.push_back(start_async(
        [this, position] { return read_(position, order_[size_t(position)]); }, "workers"));
  }
}

bool SampleLoader::next(DetectionSample& sample) {
  if (under_way_.empty()) return false;
  std::future<DetectionSample> first = std::move(under_way_.front());
  under_way_.pop_front();
  const auto position = int64_t(given_++);
  const int64_t index = order_[size_t(position)];
  start_more();
  try {
    sample = first.get();
    return true;
  } catch (const Error& error) {
    corrupt_.add(index, error.what());
  }
  sample = DetectionSample{index, {}, {}};
  if (!options_.replace) return true;
  for (int64_t step = 1; step < dataset_size_; ++step) {
    const int64_t other = (index + step) % dataset_size_;
    try {
      sample = read_(position, other);
      return true;
    } catch (const Error& error) {
      corrupt_.add(other, error.what());
    }
  }
  fail("none of the {} training images can be read", dataset_size_);
}

}  // namespace sact::train
