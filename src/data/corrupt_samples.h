// The samples that could not be read: each is named once, and too many of them end the work.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "data/dataset.h"

namespace sact::data {

/// What happens to a sample that cannot be read.
enum class OnCorrupt {
  kReplace,  // the next readable sample in the order takes its place: training
  kSkip,     // it is left out and its batch gets smaller: evaluation
};

/// The share of a data set that may be unreadable unless the user says otherwise.
inline constexpr double kTolerableShare = 0.01;

/// How many samples of a set may be unreadable, given the share.
int64_t corrupt_limit(int64_t dataset_size, double share);

/// One hundredth of the set, but at least ten.
int64_t default_corrupt_limit(int64_t dataset_size);

/// Not for several threads at once.
class CorruptSamples {
 public:
  /// Up to `limit` different samples may be unreadable.
  explicit CorruptSamples(int64_t limit) : limit_(limit) {}

  /// Names a new sample in a warning. Throws sact::Error with it when that makes too many.
  void add(int64_t index, const std::string& problem);

  /// Names, once, each class that has lost all its samples: nothing can be learned or said about
  /// it.
  void name_lost_classes(const Dataset& dataset);

  int64_t count() const { return int64_t(samples_.size()); }
  int64_t limit() const { return limit_; }

 private:
  int64_t limit_;
  std::unordered_set<int64_t> samples_;
  std::unordered_set<int> lost_classes_;
  int64_t looked_through_ = 0;  // samples there were when classes were last looked for
};

}  // namespace sact::data
