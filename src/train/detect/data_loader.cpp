#include "train/detect/data_loader.h"

#include "base/error.h"
#include "io/resize.h"
#include "model/detection.h"

namespace sact::train {

torch::Tensor network_input(const DetectionSample& sample, const InputSpec& input,
                            torch::Device device) {
  const auto options = torch::dtype(torch::kFloat32).device(device);
  auto per_colour = [&](const std::array<double, 3>& values) {
    return torch::tensor({float(values[0]), float(values[1]), float(values[2])}, options)
        .view({1, 3, 1, 1});
  };
  const torch::Tensor pixels = sample.pixels.unsqueeze(0).to(device);
  return (pixels / 255 - per_colour(input.mean)) / per_colour(input.std);
}

DetectionSample read_sample(const detect::DetectionDataset& dataset, int64_t index,
                            const DetectionSpec& detection, bool flipped, bool reduced) {
  const Size whole = dataset.picture_size(index);
  const Size size = detection_size(detection, whole);
  const io::RgbImage image = dataset.load(index, reduced ? std::min(size.height, size.width) : 0);
  DetectionSample sample;
  sample.index = index;
  const std::vector<float> planes = io::resize(image, io::whole(image), size);
  sample.pixels = torch::from_blob(const_cast<float*>(planes.data()), {3, size.height, size.width},
                                   torch::kFloat32)
                      .clone();
  if (flipped) sample.pixels = sample.pixels.flip(2);
  const float by_x = float(size.width) / float(whole.width);
  const float by_y = float(size.height) / float(whole.height);
  for (detect::Object object : dataset.objects(index)) {
    object.box = detect::scaled(object.box, by_x, by_y);
    if (flipped) object.box = detect::flipped(object.box, size.width);
    sample.objects.push_back(object);
  }
  return sample;
}

SampleLoader::SampleLoader(const detect::DetectionDataset& dataset, std::vector<int64_t> order,
                           const DetectionSpec& detection, SampleLoaderOptions options,
                           data::CorruptSamples& corrupt)
    : dataset_(dataset),
      order_(std::move(order)),
      detection_(detection),
      options_(std::move(options)),
      corrupt_(corrupt) {
  start_more();
}

DetectionSample SampleLoader::read(int64_t index) const {
  return read_sample(dataset_, index, detection_, options_.flipped && options_.flipped(index),
                     options_.reduced);
}

void SampleLoader::start_more() {
  while (started_ < order_.size() && under_way_.size() < size_t(options_.workers) + 1) {
    const int64_t index = order_[started_++];
    under_way_.push_back(std::async(std::launch::async, [this, index] { return read(index); }));
  }
}

bool SampleLoader::next(DetectionSample& sample, bool replace) {
  if (under_way_.empty()) return false;
  std::future<DetectionSample> first = std::move(under_way_.front());
  under_way_.pop_front();
  const int64_t index = order_[given_++];
  start_more();
  try {
    sample = first.get();
    return true;
  } catch (const Error& error) {
    corrupt_.add(index, error.what());
  }
  sample = DetectionSample{index, {}, {}};
  for (int64_t other = 1; replace && other < dataset_.size(); ++other) {
    try {
      sample = read((index + other) % dataset_.size());
      return true;
    } catch (const Error& error) {
      corrupt_.add((index + other) % dataset_.size(), error.what());
    }
  }
  if (replace) fail("none of the {} training images can be read", dataset_.size());
  return true;
}

}  // namespace sact::train
