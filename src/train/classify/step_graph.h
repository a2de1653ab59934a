// Recording the kernels of a training step in a CUDA graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "train/classify/step.h"
#include "train/torch/recording.h"

namespace sact::train {

/// Runs the first steps as they are, so that libraries choose their algorithms; then records one,
/// and from there on replays it with new images. A batch of another size is worked on as it is.
class StepGraph {
 public:
  using Work = std::function<StepResult(const torch::Tensor& images, const torch::Tensor& labels)>;
  static constexpr int kStepsBeforeRecording = 3;

  /// Null where there are no graphs: on the CPU, or in a build without CUDA. While it lives, work
  /// of this thread goes to a stream of its own, as recording demands.
  static std::unique_ptr<StepGraph> create(torch::Device device,
                                           std::vector<torch::Tensor> parameters);
  /// `parameters` are those whose gradients the step leaves.
  StepGraph(std::unique_ptr<RecordingStream> stream, std::unique_ptr<KernelGraph> graph,
            std::vector<torch::Tensor> parameters);

  /// `labels` may be undefined.
  StepResult run(const torch::Tensor& images, const torch::Tensor& labels, const Work& work);

 private:
  std::unique_ptr<RecordingStream> stream_;
  std::unique_ptr<KernelGraph> graph_;
  GradientPlaces gradients_;
  torch::Tensor images_, labels_;
  StepResult result_;
  int steps_ = 0;
  bool recorded_ = false;
};

}  // namespace sact::train
