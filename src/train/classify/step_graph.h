// Recording the kernels of a training step in a CUDA graph.
#pragma once

#include <functional>
#include <memory>

#include "train/classify/training_step.h"

namespace sact::train {

/// Runs the first steps as they are, so that libraries choose their algorithms; then records one,
/// and from there on replays it with new images. Gradients stay where the recorded step put them.
class StepGraph {
 public:
  using Work = std::function<StepResult(const torch::Tensor& images, const torch::Tensor& labels)>;

  /// Null where there are no graphs: on the CPU, or in a build without CUDA. While it lives, work
  /// of this thread goes to a stream of its own, as recording demands.
  static std::unique_ptr<StepGraph> create(torch::Device device);
  virtual ~StepGraph() = default;

  virtual StepResult run(const torch::Tensor& images, const torch::Tensor& labels,
                         const Work& work) = 0;
};

}  // namespace sact::train
