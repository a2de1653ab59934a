// A detector as LibTorch modules: the reference for the engine's, and what is trained.
#pragma once

#include <span>
#include <vector>

#include "detect/anchors.h"
#include "detect/detections.h"
#include "model/model_file.h"
#include "model/result.h"
#include "train/torch/libtorch.h"
#include "train/torch/network.h"

namespace sact::train {

/// What the proposal layers say of every anchor, in the order of detect::make_anchors.
struct ProposalOutput {
  torch::Tensor scores;  // [anchors]
  torch::Tensor codes;   // [anchors, 4]
};

/// Extractor, proposal layers, and the network that classifies boxes. Norms always use their moving
/// averages, in training too.
/// Of maps [batch, channels, H, W].
Size size_of(const torch::Tensor& maps);

class DetectorImpl : public torch::nn::Module {
 public:
  explicit DetectorImpl(const ModelSpec& spec);

  const ModelSpec& spec() const { return spec_; }
  const ModelSpec& extractor_spec() const { return extractor_->spec(); }

  /// `image` [1, 3, H, W], scaled and normalised.
  NetworkOutput extract(const torch::Tensor& image) { return extractor_->forward(image); }
  ProposalOutput score_anchors(const torch::Tensor& features);
  /// What the head says of boxes in pixels of an image of that size: [boxes, 1 + 5 * classes].
  torch::Tensor classify(const torch::Tensor& features, std::span<const Box> boxes, Size image);
  /// Its two steps, for at least one box: what is cropped, and what is said of it.
  torch::Tensor crop(const torch::Tensor& features, std::span<const Box> boxes, Size image);
  torch::Tensor classify_crops(const torch::Tensor& crops) { return boxes_->forward(crops).logits; }

  std::vector<Box> anchors(Size features) const;
  /// The boxes to look at, without gradients.
  std::vector<Box> propose(const ProposalOutput& output, std::span<const Box> anchors,
                           Size image) const;

  /// Of what extracts features and scores anchors, and of what classifies boxes.
  std::vector<torch::Tensor> extractor_parameters() const;
  std::vector<torch::Tensor> box_parameters() const { return boxes_->parameters(); }

 private:
  ModelSpec spec_;
  Network extractor_{nullptr}, boxes_{nullptr};
  torch::nn::Conv2d conv_{nullptr}, score_{nullptr}, box_{nullptr};
};
TORCH_MODULE(Detector);

/// One image through the whole detector.
struct DetectionOutput {
  ImageResult extracted;  // maps and FLOPs of the extractor
  std::vector<Box> proposals;
  torch::Tensor outputs;                      // of the head for each proposal, on the CPU
  std::vector<detect::Detection> detections;  // in pixels of the scaled image
};
DetectionOutput detect(Detector detector, const torch::Tensor& image,
                       const detect::DetectionOptions& options);

/// Parameters and buffers by the names of weight_list().
torch::OrderedDict<std::string, torch::Tensor> named_tensors(DetectorImpl& detector);

Detector make_detector(const ModelSpec& spec, const std::vector<Weight>& weights);
Detector load_detector(const ModelFile& file);
std::vector<Weight> detector_weights(Detector detector);

}  // namespace sact::train
