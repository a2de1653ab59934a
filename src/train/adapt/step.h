// One step of adapting: a dense network teaches an adaptive one what it thinks of a batch.
#pragma once

#include <memory>
#include <optional>

#include "train/classify/step_graph.h"
#include "train/torch/flops_share.h"
#include "train/torch/network.h"

namespace sact::train {

/// The sums of a step: times images.
enum AdaptSum : size_t {
  kAdaptLoss,
  kDivergence,
  kFeatureDistance,
  kWeightedPonder,
  kAgreement,
  kShare,
  kTau,
  kAdaptSums
};

struct AdaptStepOptions {
  double kl = 1, temperature = 1, features = 1;
  bool bf16 = false;
  bool graph = true;                     // as StepOptions::graph
  std::optional<HardHalting> hard = {};  // its noise is given with each step
};

/// KL(teacher || student) of their probabilities at a temperature T, times T^2 so that its gradient
/// does not shrink with it; mean over the batch.
torch::Tensor divergence(const torch::Tensor& teacher_logits, const torch::Tensor& student_logits,
                         double temperature);

/// The squared distance of the blocks' outputs from the teacher's over the teacher's mean square,
/// in every image and block; mean over both.
torch::Tensor feature_distance(const std::vector<BlockOutput>& teacher,
                               const std::vector<BlockOutput>& student);

class AdaptStep {
 public:
  /// `tau` [1] on the device is read in every step.
  AdaptStep(Network student, Network teacher, FlopsShare flops, torch::Tensor tau,
            AdaptStepOptions options);

  /// `images` [B, 3, H, W], augmented and normalised. Leaves the gradients of
  /// kl KL + features distance + tau ponder cost in the student's parameters, which must have none
  /// before. `noise`: see HardHalting. The result is valid until the next step.
  StepResult run(const torch::Tensor& images, const torch::Tensor& noise = {});

 private:
  StepResult forward_backward(const torch::Tensor& images, const torch::Tensor& noise);

  Network student_, teacher_;
  FlopsShare flops_;
  torch::Tensor tau_;
  AdaptStepOptions options_;
  std::unique_ptr<StepGraph> graph_;
};

}  // namespace sact::train
