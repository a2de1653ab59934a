#include "train/classify/step.h"

#include "train/classify/step_graph.h"
#include "train/torch/precision.h"

namespace sact::train {

TrainingStep::TrainingStep(Network network, StepOptions options)
    : network_(std::move(network)), options_(options) {
  const torch::Device device = network_->parameters().front().device();
  if (options_.graph) graph_ = StepGraph::create(device, network_->parameters());
  tau_ = torch::full({}, options_.tau, torch::TensorOptions(torch::kFloat32).device(device));
}

void TrainingStep::set_tau(double tau) {
  if (tau == options_.tau) return;
  options_.tau = tau;
  tau_.fill_(tau);
}

TrainingStep::~TrainingStep() = default;

StepResult TrainingStep::forward_backward(const torch::Tensor& images,
                                          const torch::Tensor& labels) {
  const FastestConvolutions fastest;
  NetworkOutput output;
  {
    Autocast autocast(options_.bf16);
    output = network_->forward(
        images.is_cuda() ? images.contiguous(torch::MemoryFormat::ChannelsLast) : images);
  }
  const torch::Tensor logits = output.logits.to(torch::kFloat32);
  const torch::Tensor entropy = torch::cross_entropy_loss(
      logits, labels, {}, torch::Reduction::Mean, -100, options_.label_smoothing);
  torch::Tensor loss = entropy, ponder = torch::zeros_like(entropy);
  if (network_->spec().adaptive()) {
    ponder = ponder_penalty(output);
    loss = loss + tau_ * ponder;
  }
  loss.backward();

  torch::NoGradGuard no_grad;
  const double count = double(labels.size(0));
  std::vector<torch::Tensor> largest;
  for (const BlockOutput& block : output.blocks) largest.push_back(block.units.max());
  return {torch::stack({loss.detach().to(torch::kFloat64) * count,
                        entropy.detach().to(torch::kFloat64) * count,
                        ponder.detach().to(torch::kFloat64) * count,
                        logits.detach().argmax(1).eq(labels).sum().to(torch::kFloat64)}),
          torch::stack(largest).to(torch::kFloat32)};
}

StepResult TrainingStep::run(const torch::Tensor& images, const torch::Tensor& labels) {
  auto work = [this](const torch::Tensor& batch, const torch::Tensor& targets) {
    return forward_backward(batch, targets);
  };
  return graph_ ? graph_->run(images, labels, work) : work(images, labels);
}

}  // namespace sact::train
