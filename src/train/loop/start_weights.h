// Starting a network from another.
#pragma once

#include <filesystem>
#include <string>

#include "model/model_file.h"
#include "train/torch/libtorch.h"

namespace sact::train {

/// Copies the weights of `init` that the network has, and leaves what only an adaptive network has
/// (halting) and what only a detector has (proposals) as it is. The head keeps the classes that
/// `init` knows under the same names (data/class_matching.h), wherever they stand there; where one
/// is missing it is left as it is. A file with fewer units than the network is an error; one with
/// more gives its first units of each block. Returns a line that says what was taken and what not.
std::string start_from(torch::OrderedDict<std::string, torch::Tensor> tensors,
                       const ModelSpec& spec, const ModelFile& init);

/// Throws sact::Error when the file lies in the run folder, where it would be overwritten.
void expect_outside_run(const std::filesystem::path& init, const std::filesystem::path& run);

}  // namespace sact::train
