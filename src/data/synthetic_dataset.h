// The built-in pictures as a data set, described by a short text.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "data/synthetic.h"

namespace sact::data {

struct SyntheticDescription {
  SyntheticOptions pictures;
  int64_t train_count = 5000, val_count = 1000;
};

/// Reads "synthetic" or "synthetic:size=64,count=5000,val=1000,seed=0"; a size may be HxW. Throws
/// sact::Error for unknown keys and values out of range.
SyntheticDescription parse_synthetic(const std::string& description);

/// The split "train" holds the pictures 0 ... count - 1 of the seed, as `sact synth` writes them;
/// "val" holds pictures from kFirstSyntheticVal on, so that they never meet however many there are.
std::unique_ptr<Dataset> open_synthetic(const std::string& description, const std::string& split);

inline constexpr int64_t kMaxSyntheticCount = 1'000'000'000;
inline constexpr int64_t kFirstSyntheticVal = 1000 * kMaxSyntheticCount;

}  // namespace sact::data
