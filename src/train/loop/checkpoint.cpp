#include "train/loop/checkpoint.h"

#include <cstring>

namespace sact::train {

std::vector<std::pair<std::string, torch::Tensor>> run_tensors(const torch::nn::Module& network,
                                                               const Sgd& sgd) {
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
  for (auto& item : network.named_parameters())
    tensors.emplace_back("model/" + item.key(), item.value());
  for (auto& item : network.named_buffers()) {
    if (item.value().is_floating_point()) tensors.emplace_back("model/" + item.key(), item.value());
  }
  for (auto& item : sgd.state()) tensors.emplace_back("momentum/" + item.key(), item.value());
  return tensors;
}

void save_checkpoint(const std::filesystem::path& path, const torch::nn::Module& network,
                     const Sgd& sgd, const Progression& progression, const RunIdentity& run) {
  std::vector<torch::Tensor> kept;
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, tensor] : run_tensors(network, sgd)) {
    kept.push_back(tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous());
    const torch::Tensor& host = kept.back();
    tensors.push_back({name,
                       {io::Dtype::kF32, host.sizes().vec(),
                        std::as_bytes(std::span(host.data_ptr<float>(), size_t(host.numel())))}});
  }
  write_checkpoint(path, tensors, progression, run);
}

void load_checkpoint(const Checkpoint& checkpoint, const torch::nn::Module& network,
                     const Sgd& sgd) {
  torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : run_tensors(network, sgd)) {
    const std::vector<float> values = checkpoint.values(name, tensor.sizes().vec());
    torch::Tensor host = torch::empty(tensor.sizes(), torch::kFloat32);
    std::memcpy(host.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    tensor.copy_(host);
  }
}

}  // namespace sact::train
