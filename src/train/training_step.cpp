#include "train/training_step.h"

#include <cmath>

#include "train/precision.h"

namespace sact::train {

EpochSums::EpochSums(const Progression& progression, int blocks, torch::Device device) {
  sums_ = torch::tensor({progression.loss_sum, progression.entropy_sum, progression.correct},
                        torch::kFloat64)
              .to(device);
  std::vector<float> most(size_t(blocks), 0.0f);
  for (size_t i = 0; i < progression.most_units.size() && i < most.size(); ++i) {
    most[i] = float(progression.most_units[i]);
  }
  most_units_ = torch::tensor(most).to(device);
}

void EpochSums::add(const torch::Tensor& loss, const torch::Tensor& entropy,
                    const torch::Tensor& correct, int64_t count, const NetworkOutput& output) {
  torch::NoGradGuard no_grad;
  sums_ += torch::stack({loss.to(torch::kFloat64) * double(count),
                         entropy.to(torch::kFloat64) * double(count), correct.to(torch::kFloat64)});
  std::vector<torch::Tensor> largest;
  for (const BlockOutput& block : output.blocks) largest.push_back(block.units.max());
  most_units_ = torch::maximum(most_units_, torch::stack(largest).to(torch::kFloat32));
}

void EpochSums::store(Progression& progression, Processes& processes) const {
  torch::Tensor sums = sums_.clone(), most_units = most_units_.clone();
  processes.sum(sums);
  processes.maximum(most_units);
  const torch::Tensor host = sums.cpu();
  progression.loss_sum = host[0].item<double>();
  progression.entropy_sum = host[1].item<double>();
  progression.correct = host[2].item<double>();
  progression.most_units.clear();
  const torch::Tensor units = most_units.cpu();
  for (int64_t i = 0; i < units.numel(); ++i) {
    progression.most_units.push_back(units[i].item<double>());
  }
}

bool EpochSums::finite(Processes& processes) const {
  return !processes.any(!std::isfinite(sums_[0].item<double>()));
}

TrainingStep::TrainingStep(Network network, Sgd& sgd, StepOptions options)
    : network_(std::move(network)), sgd_(sgd), options_(std::move(options)) {}

void TrainingStep::run(const torch::Tensor& images, const torch::Tensor& labels, double rate,
                       EpochSums& sums) {
  sgd_.zero_gradients();
  NetworkOutput output;
  {
    Autocast autocast(options_.bf16);
    output = network_->forward(
        images.is_cuda() ? images.contiguous(torch::MemoryFormat::ChannelsLast) : images);
  }
  const torch::Tensor logits = output.logits.to(torch::kFloat32);
  const torch::Tensor entropy = torch::cross_entropy_loss(
      logits, labels, {}, torch::Reduction::Mean, -100, options_.label_smoothing);
  torch::Tensor loss = entropy;
  if (network_->spec().adaptive()) loss = loss + options_.tau * ponder_penalty(output);
  loss.backward();
  if (options_.after_backward) options_.after_backward();
  sgd_.step(rate);
  sums.add(loss.detach(), entropy.detach(), logits.detach().argmax(1).eq(labels).sum(),
           labels.size(0), output);
}

}  // namespace sact::train
