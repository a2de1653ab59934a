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

/// Kernels that are recorded once and run again as often as wanted.
class KernelGraph {
 public:
  /// Null where nothing can be recorded. A RecordingStream must live as long as it.
  static std::unique_ptr<KernelGraph> create(torch::Device device);
  virtual ~KernelGraph() = default;

  /// Records what `work` launches, without running it.
  virtual void record(const std::function<void()>& work) = 0;
  virtual void replay() = 0;
};

/// Which tensors hold the gradients of some parameters. Recorded kernels write to these whatever
/// has taken their place since.
class GradientPlaces {
 public:
  explicit GradientPlaces(std::vector<torch::Tensor> parameters)
      : parameters_(std::move(parameters)) {}

  /// Remembers the gradients as they are now.
  void note();
  /// Puts them in place again; a parameter that had none then has none now.
  void restore();

 private:
  std::vector<torch::Tensor> parameters_, gradients_;
};

/// Gradients that recorded backward passes leave in memory of their own: one tensor for each
/// parameter, whatever the recording. Not every recording need use every parameter.
class RecordedGradients {
 public:
  explicit RecordedGradients(std::vector<torch::Tensor> parameters);

  const std::vector<torch::Tensor>& parameters() const { return parameters_; }
  /// Copies what a pass has found, undefined for a parameter that it does not use: a part of the
  /// recording. Returns the numbers of the parameters that it uses.
  std::vector<size_t> keep(const std::vector<torch::Tensor>& found);
  /// Adds what was kept to the gradients of these parameters.
  void add_to_parameters(const std::vector<size_t>& used) const;

 private:
  std::vector<torch::Tensor> parameters_, kept_;
};

/// A part of a network, of some tensors and parameters. The first inputs of their shapes are worked
/// on as they are, so that libraries choose their algorithms; with the second the kernels of both
/// passes are recorded, and from there on replayed.
class RecordedPart {
 public:
  using Work = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>& inputs)>;

  /// Null where nothing can be recorded. A RecordingStream must live as long as it.
  static std::unique_ptr<RecordedPart> create(torch::Device device, Work work,
                                              std::vector<torch::Tensor> parameters);
  virtual ~RecordedPart() = default;

  /// What `work` gives for the inputs, with gradients, which are added to those of the parameters
  /// and handed on to the first input; others have none. An input may be undefined. Good until the
  /// next run(), which must not come between the two passes of another.
  virtual std::vector<torch::Tensor> run(const std::vector<torch::Tensor>& inputs) = 0;
};

}  // namespace sact::train
