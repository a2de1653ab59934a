// Pictures of similar shape in one batch, for training a detector.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "train/detect/data_loader.h"

namespace sact::train {

/// Sides of a batch of pictures of different shapes are multiples of this, so that the same shapes
/// come again.
inline constexpr int kBatchSideStep = 64;

/// The size of a batch of pictures: theirs where all have the same, else one that takes all.
Size padded_size(std::span<const Size> pictures);

/// Puts samples of similar shape next to each other, so that each `batch` of them needs little
/// padding, and shuffles these batches by a permutation that depends on nothing but the arguments.
/// `shapes` are those of all samples; samples of one shape stay in their order. What is left after
/// the last full batch stays at the end.
std::vector<int64_t> similar_together(std::vector<int64_t> order, std::span<const Size> shapes,
                                      int64_t batch, uint64_t seed);

/// Pictures as 8-bit colours at the size of training, decoded when they are first wanted and then
/// kept, if so asked.
class StoredPictures {
 public:
  StoredPictures(const detect::DetectionDataset& dataset, int shorter_side, bool keep);

  /// Memory that keeping all of them takes.
  static uint64_t bytes(const detect::DetectionDataset& dataset, int shorter_side);

  /// From any thread. Throws sact::Error when it cannot be read.
  std::shared_ptr<const io::RgbImage> get(int64_t index) const;

 private:
  std::shared_ptr<const io::RgbImage> read(int64_t index) const;

  const detect::DetectionDataset& dataset_;
  DetectionSpec detection_;
  bool keep_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const io::RgbImage>> kept_;
};

struct DetectionBatch {
  /// uint8 [B, H, W, 3] on the CPU, in memory that a GPU can fetch from; every picture lies in the
  /// first rows and columns.
  torch::Tensor pixels;
  std::vector<DetectionSample> samples;  // without their pixels
  std::vector<Size> sizes;
};

/// [B, 3, H, W] on a device; padding is not 0.
torch::Tensor network_input(const DetectionBatch& batch, const InputSpec& input,
                            torch::Device device);

struct BatchLoaderOptions {
  int batch = 1;
  int workers = 1;
  bool pinned = false;  // for a GPU
};

/// Goes through a list of samples, whose number is a multiple of the batch. The next batch is made
/// while the last one is worked on.
class DetectionBatchLoader {
 public:
  DetectionBatchLoader(int64_t dataset_size, std::vector<int64_t> order, SampleLoader::Read read,
                       const BatchLoaderOptions& options, data::CorruptSamples& corrupt);

  DetectionBatch next();

 private:
  void start();
  DetectionBatch make();

  BatchLoaderOptions options_;
  SampleLoader loader_;
  int64_t left_;                        // batches that are not under way
  std::future<DetectionBatch> coming_;  // waited for before the loader goes
};

}  // namespace sact::train
