// Evaluation with LibTorch, on any device and shared by several processes.
#pragma once

#include "evaluation/evaluate.h"
#include "model/model_file.h"
#include "train/classify/data_loader.h"
#include "train/torch/network.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// While it lives, the network is in evaluation mode and nothing is recorded for gradients.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& network)
      : network_(network), was_training_(network.is_training()) {
    network_.eval();
  }
  ~EvaluationMode() { network_.train(was_training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& network_;
  bool was_training_;
  torch::NoGradGuard no_grad_;
};

/// What a network said of the images of a data set.
struct Answers {
  /// By sample: 1 + the class with the highest score; 0 where there is no finite answer.
  std::vector<double> classes;
  double entropy_sum = 0, images = 0;  // cross-entropy over the images with a finite answer

  double entropy() const { return entropy_sum / images; }
};

struct EvaluateOptions {
  Size size;
  int batch = 32;
  bool bf16 = false;
  std::function<bool()> interrupted = {};  // asked between batches
  OnImage on_image = {};
  Answers* answers = nullptr;  // filled, in all processes alike, where wanted
  HaltingControl halting = {};
  /// Gives the classes of a batch instead of the data set: `images` is what the network saw.
  std::function<std::vector<int>(const torch::Tensor& images, const NetworkOutput& output)> judge =
      {};
};

/// Runs the network over every readable image. Several processes share the images, each of them
/// taken by exactly one, and all get the whole outcome. They need not keep step: nothing is
/// exchanged before each is through with its images.
EvalOutcome evaluate(Network network, DeviceLoader& loader, ProcessGroup& group,
                     const EvaluateOptions& options);

/// Answers `sact eval`; empty in all but the first of several processes.
std::vector<EvalOutcome> evaluate_request(const ModelFile& file, const EvaluationRequest& request);

}  // namespace sact::train
