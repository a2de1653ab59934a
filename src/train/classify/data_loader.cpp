#include "train/classify/data_loader.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "train/torch/device.h"

namespace sact::train {
namespace {

torch::Tensor host_pixels(const uint8_t* data, int64_t count, Size size) {
  return torch::from_blob(const_cast<uint8_t*>(data), {count, 3, size.height, size.width},
                          torch::kUInt8);
}

torch::Tensor labels_tensor(const std::vector<int32_t>& labels) {
  torch::Tensor tensor = torch::empty({int64_t(labels.size())}, torch::kInt64);
  std::copy(labels.begin(), labels.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

/// Batches that threads decode, or gather from memory, while the device works.
class DecodingPass : public LoaderPass {
 public:
  template <typename Source>
  DecodingPass(const Source& source, std::vector<int64_t> order, const data::LoaderOptions& options,
               torch::Device device)
      : loader_(source, std::move(order), options), device_(device) {}

  bool next(DeviceBatch& batch) override {
    do {
      if (!loader_.next(host_)) return false;
    } while (host_.count == 0);  // an evaluation batch of nothing but unreadable images
    const torch::Tensor pixels = host_pixels(host_.pixels.data(), host_.count, host_.size);
    // The loader reuses its memory, so the CPU needs a copy as the GPU does.
    batch.pixels = device_.is_cpu() ? pixels.clone() : pixels.to(device_);
    batch.labels = labels_tensor(host_.labels).to(device_);
    batch.aspects = host_.aspects;
    batch.boxes = host_.boxes;
    batch.indices = host_.indices;
    batch.next_position = host_.next_position;
    return true;
  }

 private:
  data::BatchLoader loader_;
  data::Batch host_;
  torch::Device device_;
};

/// Batches gathered from a set that lies in GPU memory.
class ResidentPass : public LoaderPass {
 public:
  ResidentPass(const data::DecodedSet& set, const torch::Tensor& pixels,
               const torch::Tensor& labels, std::vector<int64_t> order, int batch, int64_t first,
               bool training)
      : set_(set),
        pixels_(pixels),
        labels_(labels),
        order_(std::move(order)),
        batch_(batch),
        position_(first),
        full_only_(training) {}

  bool next(DeviceBatch& batch) override {
    const int64_t left = int64_t(order_.size()) - position_;
    const int64_t count = std::min<int64_t>(batch_, left);
    if (count <= 0 || (full_only_ && count < batch_)) return false;
    const auto begin = order_.begin() + position_;
    batch.indices.assign(begin, begin + count);
    const torch::Tensor index = device_tensor(batch.indices, {count}, pixels_.device());
    batch.pixels = pixels_.index_select(0, index);
    batch.labels = labels_.index_select(0, index);
    batch.aspects.clear();
    batch.boxes.clear();
    for (int64_t sample : batch.indices) {
      batch.aspects.push_back(set_.aspects()[size_t(sample)]);
      batch.boxes.push_back(set_.boxes()[size_t(sample)]);
    }
    position_ += count;
    batch.next_position = position_;
    return true;
  }

 private:
  const data::DecodedSet& set_;
  torch::Tensor pixels_, labels_;
  std::vector<int64_t> order_;
  int64_t batch_, position_;
  bool full_only_;
};

}  // namespace

DeviceLoader::DeviceLoader(const data::Dataset& dataset, DeviceLoaderOptions options)
    : dataset_(dataset), options_(std::move(options)) {
  corrupt_ = std::make_shared<data::CorruptSamples>(
      data::corrupt_limit(dataset.size(), options_.max_corrupt));
  if (!options_.cache) return;
  data::DecodeOptions decode;
  decode.size = {options_.storage_size, options_.storage_size};
  decode.threads = options_.workers;
  decode.interrupted = options_.interrupted;
  decode.corrupt = corrupt_;
  decoded_ = std::make_unique<data::DecodedSet>(dataset, decode);
  if (options_.device.is_cuda()) {
    device_pixels_ = host_pixels(decoded_->pixels().data(), decoded_->count(), decoded_->size())
                         .to(options_.device);
    device_labels_ = labels_tensor(decoded_->labels()).to(options_.device);
  }
}

DeviceLoader::~DeviceLoader() = default;

std::unique_ptr<LoaderPass> DeviceLoader::pass(std::vector<int64_t> order, int batch,
                                               int64_t first_position, bool training) {
  const auto on_corrupt = training ? data::OnCorrupt::kReplace : data::OnCorrupt::kSkip;
  if (device_pixels_.defined()) {
    return std::make_unique<ResidentPass>(*decoded_, device_pixels_, device_labels_,
                                          decoded_->readable_order(order, on_corrupt), batch,
                                          first_position, training);
  }
  data::LoaderOptions options;
  options.batch_size = batch;
  options.size = {options_.storage_size, options_.storage_size};
  options.threads = options_.workers;
  options.first_position = first_position;
  options.drop_last = training;
  options.on_corrupt = on_corrupt;
  options.corrupt = corrupt_;
  if (decoded_) {
    return std::make_unique<DecodingPass>(*decoded_, std::move(order), options, options_.device);
  }
  return std::make_unique<DecodingPass>(dataset_, std::move(order), options, options_.device);
}

}  // namespace sact::train
