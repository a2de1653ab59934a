#include "train/classify/step_graph.h"

#ifdef SACT_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "train/torch/recording.h"
#endif

namespace sact::train {

#ifdef SACT_CUDA

namespace {

constexpr int kStepsBeforeRecording = 3;

class CudaStepGraph : public StepGraph {
 public:
  explicit CudaStepGraph(torch::Device device) : stream_(RecordingStream::create(device)) {}

  StepResult run(const torch::Tensor& images, const torch::Tensor& labels,
                 const Work& work) override {
    if (recorded_ && images.sizes() == images_.sizes()) {
      images_.copy_(images);
      labels_.copy_(labels);
      graph_.replay();
      return result_;
    }
    if (recorded_ || ++steps_ <= kStepsBeforeRecording) return work(images, labels);
    images_ = images.clone();
    labels_ = labels.clone();
    c10::cuda::CUDACachingAllocator::emptyCache();
    graph_.capture_begin();
    result_ = work(images_, labels_);
    graph_.capture_end();
    recorded_ = true;
    graph_.replay();
    return result_;
  }

 private:
  std::unique_ptr<RecordingStream> stream_;
  at::cuda::CUDAGraph graph_;
  torch::Tensor images_, labels_;
  StepResult result_;
  int steps_ = 0;
  bool recorded_ = false;
};

}  // namespace

std::unique_ptr<StepGraph> StepGraph::create(torch::Device device) {
  return device.is_cuda() ? std::make_unique<CudaStepGraph>(device) : nullptr;
}

#else

std::unique_ptr<StepGraph> StepGraph::create(torch::Device) {
  return nullptr;
}

#endif

}  // namespace sact::train
