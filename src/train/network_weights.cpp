#include "train/network_weights.h"

#include <cstring>

#include "base/error.h"

namespace sact::train {
namespace {

template <typename ValuesOf>
Network build(const ModelSpec& spec, ValuesOf values_of) {
  torch::NoGradGuard no_grad;
  Network network(spec);
  auto tensors = named_tensors(*network);
  for (const WeightInfo& weight : weight_list(spec)) {
    torch::Tensor* target = tensors.find(weight.name);
    SACT_ASSERT(target && target->sizes() == torch::IntArrayRef(weight.shape));
    const std::vector<float> values = values_of(weight);
    SACT_ASSERT(int64_t(values.size()) == target->numel() && target->is_contiguous());
    std::memcpy(target->data_ptr<float>(), values.data(), values.size() * sizeof(float));
  }
  network->eval();
  return network;
}

}  // namespace

torch::OrderedDict<std::string, torch::Tensor> named_tensors(NetworkImpl& network) {
  auto tensors = network.named_parameters();
  for (auto& buffer : network.named_buffers()) tensors.insert(buffer.key(), buffer.value());
  return tensors;
}

Network load_network(const ModelFile& file) {
  return build(file.spec(), [&](const WeightInfo& weight) { return file.values(weight); });
}

Network make_network(const ModelSpec& spec, const std::vector<Weight>& weights) {
  size_t next = 0;
  return build(spec, [&](const WeightInfo& weight) {
    SACT_ASSERT(next < weights.size() && weights[next].info.name == weight.name);
    return weights[next++].values;
  });
}

std::vector<Weight> network_weights(Network network) {
  auto tensors = named_tensors(*network);
  std::vector<Weight> weights;
  for (const WeightInfo& info : weight_list(network->spec())) {
    const torch::Tensor values =
        tensors[info.name].detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const float* data = values.data_ptr<float>();
    weights.push_back({info, std::vector<float>(data, data + values.numel())});
  }
  return weights;
}

}  // namespace sact::train
