// Pictures for training and evaluating a detector, scaled and with their objects, read ahead by
// threads.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <vector>

#include "data/corrupt_samples.h"
#include "detect/detection_dataset.h"
#include "model/spec.h"
#include "train/torch/libtorch.h"

namespace sact::train {

struct DetectionSample {
  int64_t index = 0;
  torch::Tensor pixels;                 // [3, H, W] from 0 to 255, on the CPU
  std::vector<detect::Object> objects;  // in its pixels

  Size size() const { return {int(pixels.size(1)), int(pixels.size(2))}; }
};

/// Pixels [B, 3, H, W] from 0 to 255 as network input on a device.
torch::Tensor network_input(const torch::Tensor& pixels, const InputSpec& input,
                            torch::Device device);
/// [1, 3, H, W].
torch::Tensor network_input(const DetectionSample& sample, const InputSpec& input,
                            torch::Device device);

/// A picture as every back end sees it: its pixels are float32, scaled as the detector wants it.
DetectionSample read_sample(const detect::DetectionDataset& dataset, int64_t index,
                            const DetectionSpec& detection);

/// How pictures are seen in training.
struct TrainingView {
  int shorter_side = 0;
  bool flipped = false;
};
/// `stored` is the picture at that size or another; the pixels are uint8.
DetectionSample training_sample(const detect::DetectionDataset& dataset, int64_t index,
                                const io::RgbImage& stored, const TrainingView& view);

struct SampleLoaderOptions {
  int workers = 1;
  /// Whether the next sample that can be read takes the place of one that cannot, as in training.
  bool replace = false;
};

/// Goes through a list of samples of a data set. One that cannot be read is named in `corrupt`.
class SampleLoader {
 public:
  /// Reads a sample which stands at that position of the list; on any thread.
  using Read = std::function<DetectionSample(int64_t position, int64_t index)>;

  SampleLoader(int64_t dataset_size, std::vector<int64_t> order, Read read,
               SampleLoaderOptions options, data::CorruptSamples& corrupt);

  /// False at the end. Without replacement, a sample that cannot be read comes with no pixels.
  bool next(DetectionSample& sample);

 private:
  void start_more();

  int64_t dataset_size_;
  std::vector<int64_t> order_;
  Read read_;
  SampleLoaderOptions options_;
  data::CorruptSamples& corrupt_;
  size_t started_ = 0, given_ = 0;
  std::deque<std::future<DetectionSample>> under_way_;
};

}  // namespace sact::train
