#include "train/classify/step_graph.h"

namespace sact::train {

std::unique_ptr<StepGraph> StepGraph::create(torch::Device device,
                                             std::vector<torch::Tensor> parameters) {
  auto stream = RecordingStream::create(device);
  auto graph = KernelGraph::create(device);
  if (!graph) return nullptr;
  return std::make_unique<StepGraph>(std::move(stream), std::move(graph), std::move(parameters));
}

StepGraph::StepGraph(std::unique_ptr<RecordingStream> stream, std::unique_ptr<KernelGraph> graph,
                     std::vector<torch::Tensor> parameters)
    : stream_(std::move(stream)), graph_(std::move(graph)), gradients_(std::move(parameters)) {}

StepResult StepGraph::run(const torch::Tensor& images, const torch::Tensor& labels,
                          const Work& work) {
  if (recorded_ && images.sizes() == images_.sizes()) {
    images_.copy_(images);
    if (labels.defined()) labels_.copy_(labels);
    graph_->replay();
    gradients_.restore();  // a batch of another size, or the update, may have put others in place
    return result_;
  }
  if (recorded_ || ++steps_ <= kStepsBeforeRecording) return work(images, labels);
  images_ = images.clone();
  if (labels.defined()) labels_ = labels.clone();
  graph_->record([&] { result_ = work(images_, labels_); });
  gradients_.note();
  recorded_ = true;
  graph_->replay();
  return result_;
}

}  // namespace sact::train
