// Batches for training and evaluation, decoded ahead of time by several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/size.h"
#include "data/corrupt_samples.h"
#include "data/dataset.h"
#include "data/decoded_set.h"

namespace sact::data {

struct Batch {
  int64_t first_position = 0;  // place of the first sample in the order
  int64_t next_position = 0;   // where a pass that continues after this batch starts
  int count = 0;
  Size size;
  std::vector<uint8_t> pixels;  // [count, 3, height, width]
  std::vector<int32_t> labels;
  std::vector<float> aspects;        // width over height of the original images
  std::vector<NormalizedBox> boxes;  // the largest of a sample; the whole image where there is none
  std::vector<int64_t> indices;      // of the samples in the data set
};

struct LoaderOptions {
  int batch_size = 32;
  Size size = {160, 160};      // every image is squashed to this
  int threads = 0;             // 0: as many as this process may use
  int prefetch = 3;            // batches that are prepared ahead of the consumer
  int64_t first_position = 0;  // of the order, to go on in the middle of an epoch
  bool drop_last = false;      // leave out a last batch that is not full
  OnCorrupt on_corrupt = OnCorrupt::kReplace;
  /// Shared by all passes over a data set, so that a sample is named once. Without it a pass has
  /// its own, with the default limit.
  std::shared_ptr<CorruptSamples> corrupt = {};
};

/// One pass over the samples of `order`. Batches come in order and hold the same whatever the
/// number of threads.
class BatchLoader {
 public:
  /// The data set must outlive the loader. Indices of `order` are samples of it.
  BatchLoader(const Dataset& dataset, std::vector<int64_t> order, const LoaderOptions& options);
  /// The same batches from memory; `options.size` must be that of the decoded set.
  BatchLoader(const DecodedSet& set, std::vector<int64_t> order, const LoaderOptions& options);
  /// Stops as soon as the samples in work are done.
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Puts the next batch into `batch`, reusing its memory; false at the end. Waits for the decoding
  /// threads, and throws what they threw: sact::Error when too many samples cannot be read. After
  /// that, every call throws the same.
  bool next(Batch& batch);

  /// Unreadable samples met so far, in this pass and those that shared `options.corrupt`.
  int64_t corrupt_count() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace sact::data
