// CIFAR-10 in its binary version: records of a label and a 32x32 picture.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/dataset.h"

namespace sact::data {

/// The directory of CIFAR-10's binary files: `directory` itself or the one that its archive makes
/// below it; empty when there are none.
std::filesystem::path find_cifar10(const std::filesystem::path& directory);

/// Opens data_batch_1.bin to data_batch_5.bin (split "train") or test_batch.bin (split "val").
/// Class names come from batches.meta.txt; without it they are the digits. Throws sact::Error for a
/// missing file, a size that is not a multiple of 3073 bytes and a label above 9.
std::unique_ptr<Dataset> open_cifar10(const std::filesystem::path& directory,
                                      const std::string& split);

}  // namespace sact::data
