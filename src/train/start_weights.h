// Starting a network from another.
#pragma once

#include "model/model_file.h"
#include "train/libtorch.h"

namespace sact::train {

/// Copies the weights of `init` that the network has, and leaves what only an adaptive network has
/// (halting), what only a detector has (proposals) and what depends on the number of classes (the
/// head, if that differs) as it is. A file with fewer units than the network is an error; one with
/// more gives its first units of each block.
void start_from(torch::OrderedDict<std::string, torch::Tensor> tensors, const ModelSpec& spec,
                const ModelFile& init);

}  // namespace sact::train
