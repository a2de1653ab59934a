// A whole data set decoded once and kept in memory as one block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/size.h"
#include "data/corrupt_samples.h"
#include "data/dataset.h"
#include "data/stored_sample.h"

namespace sact::data {

struct DecodeOptions {
  Size size = {160, 160};  // every image is squashed to this
  int threads = 0;         // 0: as many as this process may use
  uint64_t max_bytes = 0;  // 0: nine tenths of the memory that is available
  /// Asked several times a second; when it says true the work ends with a sact::Error.
  std::function<bool()> interrupted = {};
  /// As in LoaderOptions.
  std::shared_ptr<CorruptSamples> corrupt = {};
};

class DecodedSet {
 public:
  /// Decodes every sample of the data set with a progress bar. Throws sact::Error before any work
  /// when the images do not fit in memory, and when too many samples cannot be read.
  DecodedSet(const Dataset& dataset, const DecodeOptions& options);

  int64_t count() const { return int64_t(samples_.labels.size()); }
  Size size() const { return size_; }

  /// [count, 3, height, width], by the index of the sample; zeros where it could not be read.
  std::span<const uint8_t> pixels() const { return {pixels_.get(), bytes_}; }
  const std::vector<int32_t>& labels() const { return samples_.labels; }  // 0 where unreadable
  const std::vector<float>& aspects() const { return samples_.aspects; }
  const std::vector<NormalizedBox>& boxes() const { return samples_.boxes; }
  bool readable(int64_t index) const { return !problems_.contains(index); }

  /// The order that BatchLoader's batches have: unreadable samples replaced by the next readable
  /// one in the order, or left out. Batches cut from it are those that BatchLoader gives (with
  /// kSkip filled up again).
  std::vector<int64_t> readable_order(const std::vector<int64_t>& order,
                                      OnCorrupt on_corrupt) const;

  /// Copies the planes of one sample; throws sact::Error when it could not be read.
  StoredSample copy(int64_t index, uint8_t* planes) const;

  /// The unreadable samples, already reported; BatchLoader uses it on this set.
  const std::shared_ptr<CorruptSamples>& corrupt() const { return corrupt_; }

 private:
  class Filling;
  struct Samples {
    std::vector<int32_t> labels;
    std::vector<float> aspects;
    std::vector<NormalizedBox> boxes;
  };

  Size size_;
  size_t bytes_ = 0;
  std::unique_ptr<uint8_t[]> pixels_;
  Samples samples_;
  std::unordered_map<int64_t, std::string> problems_;
  std::shared_ptr<CorruptSamples> corrupt_;
};

}  // namespace sact::data
