#include "train/torch/network_weights.h"

#include <cstring>

#include "base/error.h"
#include "model/detection.h"

namespace sact::train {

void set_weights(torch::OrderedDict<std::string, torch::Tensor> tensors,
                 const std::vector<Weight>& weights) {
  torch::NoGradGuard no_grad;
  for (const Weight& weight : weights) {
    torch::Tensor* target = tensors.find(weight.info.name);
    SACT_ASSERT(target && target->sizes() == torch::IntArrayRef(weight.info.shape));
    SACT_ASSERT(int64_t(weight.values.size()) == target->numel() && target->is_contiguous());
    std::memcpy(target->data_ptr<float>(), weight.values.data(),
                weight.values.size() * sizeof(float));
  }
}

std::vector<Weight> weights_of(const torch::OrderedDict<std::string, torch::Tensor>& tensors,
                               const ModelSpec& spec) {
  std::vector<Weight> weights;
  for (const WeightInfo& info : weight_list(spec)) {
    const torch::Tensor values =
        tensors[info.name].detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const float* data = values.data_ptr<float>();
    weights.push_back({info, std::vector<float>(data, data + values.numel())});
  }
  return weights;
}

torch::OrderedDict<std::string, torch::Tensor> named_tensors(NetworkImpl& network) {
  auto tensors = network.named_parameters();
  for (auto& buffer : network.named_buffers()) tensors.insert(buffer.key(), buffer.value());
  return tensors;
}

Network load_network(const ModelFile& file) {
  const ModelSpec spec = image_network(file.spec());
  return make_network(spec, read_weights(file, spec));
}

Network make_network(const ModelSpec& spec, const std::vector<Weight>& weights) {
  Network network(spec);
  set_weights(named_tensors(*network), weights);
  network->eval();
  return network;
}

std::vector<Weight> network_weights(Network network) {
  return weights_of(named_tensors(*network), network->spec());
}

}  // namespace sact::train
