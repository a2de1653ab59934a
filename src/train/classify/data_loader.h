// Batches of stored images on the training device, from memory, from the GPU's memory, or decoded
// while training goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/batch_loader.h"
#include "data/dataset.h"
#include "data/decoded_set.h"
#include "train/torch/libtorch.h"

namespace sact::train {

struct DeviceLoaderOptions {
  int storage_size = 224;
  bool cache = false;
  int workers = 0;
  double max_corrupt = data::kTolerableShare;
  torch::Device device = torch::kCPU;
  std::function<bool()> interrupted = {};
};

struct DeviceBatch {
  torch::Tensor pixels;  // uint8 [B, 3, S, S] on the device
  torch::Tensor labels;  // int64 [B] on the device
  std::vector<float> aspects;
  std::vector<data::NormalizedBox> boxes;
  std::vector<int64_t> indices;
  int64_t next_position = 0;

  int64_t count() const { return int64_t(indices.size()); }
};

/// One pass over an order.
class LoaderPass {
 public:
  virtual ~LoaderPass() = default;
  virtual bool next(DeviceBatch& batch) = 0;
};

class DeviceLoader {
 public:
  DeviceLoader(const data::Dataset& dataset, DeviceLoaderOptions options);
  ~DeviceLoader();

  const data::Dataset& dataset() const { return dataset_; }
  torch::Device device() const { return options_.device; }
  /// The unreadable samples met so far.
  data::CorruptSamples& corrupt() { return *corrupt_; }

  /// A pass from `first_position` of `order`. In training unreadable samples are replaced and only
  /// full batches are given; in evaluation they are left out.
  std::unique_ptr<LoaderPass> pass(std::vector<int64_t> order, int batch, int64_t first_position,
                                   bool training);

 private:
  const data::Dataset& dataset_;
  DeviceLoaderOptions options_;
  std::shared_ptr<data::CorruptSamples> corrupt_;
  std::unique_ptr<data::DecodedSet> decoded_;
  torch::Tensor device_pixels_, device_labels_;  // the decoded set in GPU memory
};

}  // namespace sact::train
