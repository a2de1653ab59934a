#include "train/classify/training_step.h"

#include "train/classify/step_graph.h"
#include "train/torch/precision.h"

namespace sact::train {

EpochSums::EpochSums(const Progression& progression, int blocks, torch::Device device) {
  total_.sums = torch::tensor({progression.loss_sum, progression.entropy_sum,
                               progression.ponder_sum, progression.correct},
                              torch::kFloat64)
                    .to(device);
  std::vector<float> most(size_t(blocks), 0.0f);
  for (size_t i = 0; i < progression.most_units.size() && i < most.size(); ++i) {
    most[i] = float(progression.most_units[i]);
  }
  total_.most_units = torch::tensor(most).to(device);
}

void EpochSums::add(const StepResult& result) {
  total_.sums += result.sums;
  total_.most_units = torch::maximum(total_.most_units, result.most_units);
}

void EpochSums::store(Progression& progression, ProcessGroup& group) const {
  const LossSums sums = losses(group);
  progression.loss_sum = sums.loss;
  progression.entropy_sum = sums.entropy;
  progression.ponder_sum = sums.ponder;
  progression.correct = sums.correct;
  torch::Tensor most_units = total_.most_units.clone();
  group.maximum(most_units);
  progression.most_units.clear();
  const torch::Tensor units = most_units.cpu();
  for (int64_t i = 0; i < units.numel(); ++i) {
    progression.most_units.push_back(units[i].item<double>());
  }
}

LossSums EpochSums::losses(ProcessGroup& group) const {
  torch::Tensor sums = total_.sums.clone();
  group.sum(sums);
  const torch::Tensor host = sums.cpu();
  const auto values = host.accessor<double, 1>();
  return {values[0], values[1], values[2], values[3]};
}

TrainingStep::TrainingStep(Network network, Sgd& sgd, StepOptions options)
    : network_(std::move(network)), sgd_(sgd), options_(std::move(options)) {
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

StepResult TrainingStep::run(const torch::Tensor& images, const torch::Tensor& labels,
                             double rate) {
  auto work = [this](const torch::Tensor& batch, const torch::Tensor& targets) {
    sgd_.zero_gradients();
    return forward_backward(batch, targets);
  };
  const StepResult result = graph_ ? graph_->run(images, labels, work) : work(images, labels);
  if (options_.after_backward) options_.after_backward();
  sgd_.step(rate);
  return result;
}

}  // namespace sact::train
