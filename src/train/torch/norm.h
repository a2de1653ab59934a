// Batch norm, with statistics of this process or of all.
#pragma once

#include "train/torch/libtorch.h"

namespace sact::train {

class ProcessGroup;

/// LibTorch's batch norm, with the same names, and two differences. In training a single value per
/// channel, which has no statistics, is normalised by the moving averages as in inference. And
/// statistics can be those of the joined batch of all processes.
class NormImpl : public torch::nn::Module {
 public:
  explicit NormImpl(const torch::nn::BatchNormOptions& options);

  /// `x` is [B, C] or [B, C, H, W].
  torch::Tensor forward(const torch::Tensor& x);

  /// From now on training normalises by the statistics of all processes, which then must call
  /// forward() and backward of the same norms in the same order. nullptr: own statistics.
  void synchronise(ProcessGroup* processes) { processes_ = processes; }

  torch::nn::BatchNormOptions options;
  bool frozen = false;  // normalises by the moving averages, which stay, in training too
  torch::Tensor weight, bias, running_mean, running_var;  // [C]

 private:
  ProcessGroup* processes_ = nullptr;
};
TORCH_MODULE(Norm);

}  // namespace sact::train
