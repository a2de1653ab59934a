#include "train/torch/recording.h"

#ifdef SACT_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <optional>
#endif

namespace sact::train {

void GradientPlaces::note() {
  gradients_.clear();
  for (const torch::Tensor& parameter : parameters_) gradients_.push_back(parameter.grad());
}

void GradientPlaces::restore() {
  for (size_t i = 0; i < gradients_.size(); ++i) parameters_[i].mutable_grad() = gradients_[i];
}

RecordedGradients::RecordedGradients(std::vector<torch::Tensor> parameters)
    : parameters_(std::move(parameters)) {
  for (const torch::Tensor& parameter : parameters_) {
    kept_.push_back(torch::zeros_like(parameter).detach());
  }
}

std::vector<size_t> RecordedGradients::keep(const std::vector<torch::Tensor>& found) {
  std::vector<size_t> used;
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (!found[i].defined()) continue;
    kept_[i].copy_(found[i]);
    used.push_back(i);
  }
  return used;
}

void RecordedGradients::add_to_parameters(const std::vector<size_t>& used) const {
  if (used.empty()) return;
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> kept, sums, added;
  for (const size_t i : used) kept.push_back(kept_[i]);
  const std::vector<torch::Tensor> copies = at::_foreach_mul(kept, 1.0);
  for (size_t i = 0; i < used.size(); ++i) {
    torch::Tensor parameter = parameters_[used[i]];
    if (parameter.grad().defined()) {
      sums.push_back(parameter.grad());
      added.push_back(copies[i]);
    } else {
      parameter.mutable_grad() = copies[i];
    }
  }
  if (!sums.empty()) at::_foreach_add_(sums, added);
}

#ifdef SACT_CUDA

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr size_t kMostRecordings = 64;  // inputs of yet other shapes are not recorded

/// Where memory is short LibTorch gives back what it keeps of work that is done, but not while it
/// records; so that is done before.
void make_room() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

/// Threads that load batches go on taking pinned memory meanwhile, which the usual mode forbids to
/// all threads of the process. LibTorch 1.13 has no other mode.
template <typename Graph, typename Pool>
void begin_capture(Graph& graph, const Pool& pool) {
  if constexpr (requires { graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal); }) {
    graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  } else {
    graph.capture_begin(pool);
  }
}

class CudaRecordingStream : public RecordingStream {
 public:
  explicit CudaRecordingStream(torch::Device device) : guard_(own_stream(device)) {}

 private:
  static c10::cuda::CUDAStream own_stream(torch::Device device) {
    torch::cuda::synchronize();  // what was put on the other stream is there before we begin
    return c10::cuda::getStreamFromPool(false, device.index());
  }

  c10::cuda::CUDAStreamGuard guard_;
};

class CudaKernelGraph : public KernelGraph {
 public:
  void record(const std::function<void()>& work) override {
    make_room();
    begin_capture(graph_, at::cuda::graph_pool_handle());
    work();
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

/// Both passes for one shape: the tensors that the recorded kernels read and write.
struct Recording {
  at::cuda::CUDAGraph forward, backward;
  std::vector<torch::Tensor> inputs;
  torch::Tensor input_gradient;                 // of the first; undefined where none is wanted
  std::vector<torch::Tensor> outputs;           // without history
  std::vector<torch::Tensor> output_gradients;  // undefined where an output has none
  const RecordedGradients* gradients = nullptr;
  std::vector<size_t> used;  // parameters
};

struct Replay : torch::autograd::Function<Replay> {
  /// The parameter is there so that outputs have gradients when the input has none.
  static variable_list forward(AutogradContext* context, const Variable& input, const Variable&,
                               Recording* recording) {
    context->saved_data["recording"] = reinterpret_cast<int64_t>(recording);
    recording->inputs.front().copy_(input);
    recording->forward.replay();
    variable_list outputs, without_gradients;
    for (size_t i = 0; i < recording->outputs.size(); ++i) {
      outputs.push_back(recording->outputs[i].detach());
      if (!recording->output_gradients[i].defined()) without_gradients.push_back(outputs.back());
    }
    context->mark_non_differentiable(without_gradients);
    return outputs;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto* recording = reinterpret_cast<Recording*>(context->saved_data["recording"].toInt());
    for (size_t i = 0; i < gradients.size(); ++i) {
      torch::Tensor& read = recording->output_gradients[i];
      if (!read.defined()) continue;
      if (gradients[i].defined()) {
        read.copy_(gradients[i]);
      } else {
        read.zero_();
      }
    }
    recording->backward.replay();
    recording->gradients->add_to_parameters(recording->used);
    return {recording->input_gradient, {}, {}};
  }
};

class CudaRecordedPart : public RecordedPart {
 public:
  CudaRecordedPart(Work work, std::vector<torch::Tensor> parameters)
      : work_(std::move(work)),
        pool_(at::cuda::graph_pool_handle()),
        gradients_(std::move(parameters)) {}

  std::vector<torch::Tensor> run(const std::vector<torch::Tensor>& inputs) override {
    if (!torch::GradMode::is_enabled() || gradients_.parameters().empty()) return work_(inputs);
    auto [place, is_new] = recordings_.try_emplace(shapes_of(inputs));
    if (!place->second) {
      if (is_new || recorded_ == kMostRecordings) return work_(inputs);
      place->second = record(inputs);
      ++recorded_;
    }
    Recording& recording = *place->second;
    for (size_t i = 1; i < inputs.size(); ++i) {  // the first is copied with its gradient in mind
      if (inputs[i].defined()) recording.inputs[i].copy_(inputs[i]);
    }
    return Replay::apply(inputs.front(), gradients_.parameters().front(), &recording);
  }

 private:
  static std::vector<int64_t> shapes_of(const std::vector<torch::Tensor>& inputs) {
    std::vector<int64_t> shapes = {inputs.front().requires_grad()};
    for (const torch::Tensor& input : inputs) {
      shapes.push_back(input.defined() ? input.dim() : -1);
      if (!input.defined()) continue;
      shapes.insert(shapes.end(), input.sizes().begin(), input.sizes().end());
    }
    return shapes;
  }

  /// Activations of all shapes share one pool: nothing of one is needed when another begins.
  std::unique_ptr<Recording> record(const std::vector<torch::Tensor>& inputs) {
    const torch::Tensor& input = inputs.front();
    auto made = std::make_unique<Recording>();
    made->gradients = &gradients_;
    for (const torch::Tensor& each : inputs) {
      made->inputs.push_back(each.defined() ? each.detach().clone() : torch::Tensor());
    }
    made->inputs.front().requires_grad_(input.requires_grad());
    make_room();
    begin_capture(made->forward, pool_);
    const std::vector<torch::Tensor> outputs = work_(made->inputs);
    made->forward.capture_end();

    std::vector<torch::Tensor> differentiable, read;
    for (const torch::Tensor& output : outputs) {
      made->outputs.push_back(output.detach());
      made->output_gradients.emplace_back();
      if (!output.requires_grad()) continue;
      made->output_gradients.back() = torch::zeros_like(output).detach();
      differentiable.push_back(output);
      read.push_back(made->output_gradients.back());
    }
    std::vector<torch::Tensor> wanted = gradients_.parameters();
    if (input.requires_grad()) wanted.push_back(made->inputs.front());
    begin_capture(made->backward, pool_);
    std::vector<torch::Tensor> found =
        torch::autograd::grad(differentiable, wanted, read, /*retain_graph=*/{},
                              /*create_graph=*/false, /*allow_unused=*/true);
    made->used = gradients_.keep(found);
    made->backward.capture_end();
    if (input.requires_grad()) made->input_gradient = found.back();
    return made;
  }

  Work work_;
  decltype(at::cuda::graph_pool_handle()) pool_;
  RecordedGradients gradients_;
  std::map<std::vector<int64_t>, std::unique_ptr<Recording>> recordings_;
  size_t recorded_ = 0;
};

}  // namespace

std::unique_ptr<RecordingStream> RecordingStream::create(torch::Device device) {
  return device.is_cuda() ? std::make_unique<CudaRecordingStream>(device) : nullptr;
}

std::unique_ptr<KernelGraph> KernelGraph::create(torch::Device device) {
  return device.is_cuda() ? std::make_unique<CudaKernelGraph>() : nullptr;
}

std::unique_ptr<RecordedPart> RecordedPart::create(torch::Device device, Work work,
                                                   std::vector<torch::Tensor> parameters) {
  return device.is_cuda()
             ? std::make_unique<CudaRecordedPart>(std::move(work), std::move(parameters))
             : nullptr;
}

#else

std::unique_ptr<RecordingStream> RecordingStream::create(torch::Device) {
  return nullptr;
}

std::unique_ptr<KernelGraph> KernelGraph::create(torch::Device) {
  return nullptr;
}

std::unique_ptr<RecordedPart> RecordedPart::create(torch::Device, Work,
                                                   std::vector<torch::Tensor>) {
  return nullptr;
}

#endif

}  // namespace sact::train
