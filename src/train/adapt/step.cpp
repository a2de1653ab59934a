#include "train/adapt/step.h"

#include "train/torch/precision.h"

namespace sact::train {

torch::Tensor divergence(const torch::Tensor& teacher_logits, const torch::Tensor& student_logits,
                         double temperature) {
  const torch::Tensor taught = torch::log_softmax(teacher_logits / temperature, 1);
  const torch::Tensor said = torch::log_softmax(student_logits / temperature, 1);
  return (taught.exp() * (taught - said)).sum(1).mean() * (temperature * temperature);
}

torch::Tensor feature_distance(const std::vector<BlockOutput>& teacher,
                               const std::vector<BlockOutput>& student) {
  torch::Tensor sum;
  for (size_t block = 0; block < teacher.size(); ++block) {
    const torch::Tensor taught = at_least_float32(teacher[block].features);
    const torch::Tensor found = at_least_float32(student[block].features);
    const torch::Tensor scale = taught.square().mean({1, 2, 3}).clamp_min(1e-12);
    const torch::Tensor distance = ((found - taught).square().mean({1, 2, 3}) / scale).mean();
    sum = sum.defined() ? sum + distance : distance;
  }
  return sum / double(teacher.size());
}

AdaptStep::AdaptStep(Network student, Network teacher, FlopsShare flops, torch::Tensor tau,
                     AdaptStepOptions options)
    : student_(std::move(student)),
      teacher_(std::move(teacher)),
      flops_(std::move(flops)),
      tau_(std::move(tau)),
      options_(options) {
  if (options_.graph) graph_ = StepGraph::create(tau_.device(), student_->parameters());
}

StepResult AdaptStep::forward_backward(const torch::Tensor& images, const torch::Tensor& noise) {
  const FastestConvolutions fastest;
  const torch::Tensor input =
      images.is_cuda() ? images.contiguous(torch::MemoryFormat::ChannelsLast) : images;
  NetworkOutput taught, output;
  {
    Autocast autocast(options_.bf16);
    {
      torch::NoGradGuard no_grad;
      taught = teacher_->forward(input);
    }
    ForwardOptions forward;
    if (options_.hard) {
      options_.hard->noise = noise;
      forward.hard = &*options_.hard;
    }
    output = student_->forward(input, forward);
  }
  const torch::Tensor teacher_logits = taught.logits.to(torch::kFloat32);
  const torch::Tensor logits = output.logits.to(torch::kFloat32);
  const torch::Tensor kl = divergence(teacher_logits, logits, options_.temperature);
  torch::Tensor distance = torch::zeros_like(kl);
  if (options_.features > 0) distance = feature_distance(taught.blocks, output.blocks);
  const torch::Tensor ponder = flops_.ponder_cost(output.blocks);
  const torch::Tensor loss =
      options_.kl * kl + options_.features * distance + tau_.squeeze(0) * ponder;
  loss.backward();

  torch::NoGradGuard no_grad;
  const torch::Tensor agreement =
      logits.detach().argmax(1).eq(teacher_logits.argmax(1)).to(torch::kFloat32).mean();
  std::vector<torch::Tensor> largest;
  for (const BlockOutput& block : output.blocks) largest.push_back(block.units.max());
  const torch::Tensor means =
      torch::stack({loss.detach(), kl.detach(), distance.detach(), ponder.detach(), agreement,
                    flops_.of(output.blocks), tau_.squeeze(0)});
  return {means.to(torch::kFloat64) * double(images.size(0)),
          torch::stack(largest).to(torch::kFloat32)};
}

StepResult AdaptStep::run(const torch::Tensor& images, const torch::Tensor& noise) {
  auto work = [this](const torch::Tensor& batch, const torch::Tensor& values) {
    return forward_backward(batch, values);
  };
  return graph_ ? graph_->run(images, noise, work) : work(images, noise);
}

}  // namespace sact::train
