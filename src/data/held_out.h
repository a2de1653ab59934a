// Holding out a part of each class for validation, where a data set has no validation set.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace sact::data {

/// A part of a set of which a share is held out: "val:0.1" is that tenth, "train:0.1" the rest.
struct HeldOutPart {
  bool held_out = false;
  double share = 0;
};

/// Reads such a name; nothing for the name of a common split. Throws sact::Error for a share that
/// is not between 0 and 1.
std::optional<HeldOutPart> held_out_part(const std::string& split);

/// The name of a split ("train" or "val") where `share` is held out; the plain name for 0.
std::string split_name(const std::string& split, double share);

/// Which samples are held out: of every class the share with the lowest hashes of their names,
/// rounded, but at least one and never all; a class of one sample keeps it. So the choice depends
/// on nothing but the names, and every class has its part.
std::vector<bool> held_out_samples(const std::vector<std::string>& names,
                                   const std::vector<int>& labels, double share);

/// Some of the samples of a data set, in their order.
std::unique_ptr<Dataset> subset(std::unique_ptr<Dataset> whole, std::vector<int64_t> samples);

}  // namespace sact::data
