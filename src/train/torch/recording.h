// Recording kernels in CUDA graphs, where launching them one by one takes longer than running them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "train/torch/libtorch.h"

namespace sact::train {

/// While it lives, work of this thread goes to a stream of its own, as recording demands.
class RecordingStream {
 public:
  /// Null where nothing can be recorded: on the CPU, or in a build without CUDA.
  static std::unique_ptr<RecordingStream> create(torch::Device device);
  virtual ~RecordingStream() = default;
};

/// A part of a network, of one tensor and some parameters. The first input of a shape is worked on
/// as it is, so that libraries choose their algorithms; with the second the kernels of both passes
/// are recorded, and from there on replayed.
class RecordedPart {
 public:
  using Work = std::function<std::vector<torch::Tensor>(const torch::Tensor& input)>;

  /// Null where nothing can be recorded. A RecordingStream must live as long as it.
  static std::unique_ptr<RecordedPart> create(torch::Device device, Work work,
                                              std::vector<torch::Tensor> parameters);
  virtual ~RecordedPart() = default;

  /// What `work` gives for the input, with gradients, which are added to those of the parameters
  /// and handed on to the input. Good until the next run(), which must not come between the two
  /// passes of another.
  virtual std::vector<torch::Tensor> run(const torch::Tensor& input) = 0;
};

}  // namespace sact::train
