#include "train/loop/epoch_sums.h"

namespace sact::train {
namespace {

torch::Tensor tensor_of(std::vector<double> values, size_t count, torch::ScalarType type,
                        torch::Device device) {
  values.resize(count, 0.0);
  return torch::tensor(values, torch::kFloat64).to(device, type);
}

std::vector<double> values_of(const torch::Tensor& tensor) {
  const torch::Tensor host = tensor.to(torch::kCPU, torch::kFloat64).contiguous();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

}  // namespace

EpochSums::EpochSums(const Progression& progression, size_t sums, size_t maxima,
                     torch::Device device)
    : sums_(tensor_of(progression.sums, sums, torch::kFloat64, device)),
      maxima_(tensor_of(progression.maxima, maxima, torch::kFloat32, device)) {}

void EpochSums::add(const torch::Tensor& sums, const torch::Tensor& maxima) {
  sums_ += sums;
  if (maxima.defined()) maxima_ = torch::maximum(maxima_, maxima);
}

std::vector<double> EpochSums::sums(ProcessGroup& group) const {
  torch::Tensor all = sums_.clone();
  group.sum(all);
  return values_of(all);
}

std::vector<double> EpochSums::maxima(ProcessGroup& group) const {
  torch::Tensor all = maxima_.clone();
  if (all.numel() > 0) group.maximum(all);
  return values_of(all);
}

}  // namespace sact::train
