// Moving weights between the network and model files.
#pragma once

#include <vector>

#include "model/model_file.h"
#include "train/torch/network.h"

namespace sact::train {

/// A network of the file's spec with the file's weights, on the CPU, ready for inference.
Network load_network(const ModelFile& file);

/// A network with these weights (for example initial_weights()), ready for inference.
Network make_network(const ModelSpec& spec, const std::vector<Weight>& weights);

/// Parameters and buffers of the network by name.
torch::OrderedDict<std::string, torch::Tensor> named_tensors(NetworkImpl& network);

/// Puts values into tensors of these names.
void set_weights(torch::OrderedDict<std::string, torch::Tensor> tensors,
                 const std::vector<Weight>& weights);

/// The weights of such a spec out of tensors of these names, in the order of weight_list().
std::vector<Weight> weights_of(const torch::OrderedDict<std::string, torch::Tensor>& tensors,
                               const ModelSpec& spec);

/// The network's weights in the order of weight_list().
std::vector<Weight> network_weights(Network network);

}  // namespace sact::train
