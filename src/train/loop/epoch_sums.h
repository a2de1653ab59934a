// What a training adds up over an epoch.
#pragma once

#include <vector>

#include "train/loop/checkpoint_file.h"
#include "train/torch/libtorch.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// Sums and maxima over the epoch under way, kept on the device so that a step need not wait for
/// it.
class EpochSums {
 public:
  /// Goes on with those of the progression; numbers that it lacks are 0.
  EpochSums(const Progression& progression, size_t sums, size_t maxima, torch::Device device);

  /// `sums` are float64; `maxima` float32, undefined where there are none.
  void add(const torch::Tensor& sums, const torch::Tensor& maxima = {});

  /// Those of all processes. Waits for them and for the device. Not finite where any was not.
  std::vector<double> sums(ProcessGroup& group) const;
  std::vector<double> maxima(ProcessGroup& group) const;

 private:
  torch::Tensor sums_, maxima_;
};

}  // namespace sact::train
