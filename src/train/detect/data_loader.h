// Pictures for training a detector, scaled and with their objects, decoded ahead by threads.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <vector>

#include "base/random.h"
#include "data/corrupt_samples.h"
#include "detect/detection_dataset.h"
#include "model/spec.h"
#include "train/torch/libtorch.h"

namespace sact::train {

struct DetectionSample {
  int64_t index = 0;
  torch::Tensor pixels;                 // float32 [3, H, W] from 0 to 255, scaled, on the CPU
  std::vector<detect::Object> objects;  // in its pixels

  Size size() const { return {int(pixels.size(1)), int(pixels.size(2))}; }
};

/// As network input [1, 3, H, W] on a device.
torch::Tensor network_input(const DetectionSample& sample, const InputSpec& input,
                            torch::Device device);

struct SampleLoaderOptions {
  int workers = 1;
  /// Whether this sample is mirrored.
  std::function<bool(int64_t index)> flipped = {};
  /// Whether large photographs may be decoded at a reduced scale; evaluation is to see what other
  /// back ends see.
  bool reduced = true;
};

/// Reads, scales (as the detector wants it) and perhaps mirrors the sample.
DetectionSample read_sample(const detect::DetectionDataset& dataset, int64_t index,
                            const DetectionSpec& detection, bool flipped, bool reduced);

/// Goes through a list of samples. One that cannot be read is named in `corrupt`, and in training
/// the next that can be read takes its place.
class SampleLoader {
 public:
  SampleLoader(const detect::DetectionDataset& dataset, std::vector<int64_t> order,
               const DetectionSpec& detection, SampleLoaderOptions options,
               data::CorruptSamples& corrupt);

  /// False at the end. In evaluation, a sample that cannot be read comes with no pixels.
  bool next(DetectionSample& sample, bool replace);

 private:
  void start_more();
  DetectionSample read(int64_t index) const;

  const detect::DetectionDataset& dataset_;
  std::vector<int64_t> order_;
  DetectionSpec detection_;
  SampleLoaderOptions options_;
  data::CorruptSamples& corrupt_;
  size_t started_ = 0, given_ = 0;
  std::deque<std::future<DetectionSample>> under_way_;
};

}  // namespace sact::train
