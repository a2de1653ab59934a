// Moving weights between the network and model files.
#pragma once

#include <vector>

#include "model/model_file.h"
#include "train/network.h"

namespace sact::train {

/// A network of the file's spec with the file's weights, on the CPU, ready for inference.
Network load_network(const ModelFile& file);

/// A network with these weights (for example initial_weights()), ready for inference.
Network make_network(const ModelSpec& spec, const std::vector<Weight>& weights);

/// Parameters and buffers of the network by name.
torch::OrderedDict<std::string, torch::Tensor> named_tensors(NetworkImpl& network);

/// The network's weights in the order of weight_list().
std::vector<Weight> network_weights(Network network);

}  // namespace sact::train
