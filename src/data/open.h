// Opening any data set by what a user writes after --data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/image_folder.h"

namespace sact::data {

using OpenOptions = ImageFolderOptions;

/// Opens a split ("train" or "val" as a rule) of the data set that `description` names: an image
/// folder (image_folder.h), a directory with CIFAR-10's binary files (cifar.h), told apart by what
/// is in them, or "synthetic" with options (synthetic_dataset.h; a directory of that name is
/// "./synthetic"). The empty split means the whole of a folder that has no splits. Where a folder
/// has no split "val", "val:0.1" is a tenth of each class and "train:0.1" the rest (held_out.h).
std::unique_ptr<Dataset> open_dataset(const std::string& description, const std::string& split,
                                      const OpenOptions& options = {});

/// Throws sact::Error, naming the first difference, unless both have the same classes in the same
/// order: a label must mean the same in both.
void check_same_classes(const Dataset& train, const Dataset& val, const std::string& description);

/// The splits that can be opened; none for an image folder that is a single set.
std::vector<std::string> dataset_splits(const std::string& description);

}  // namespace sact::data
