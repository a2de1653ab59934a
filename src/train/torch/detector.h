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

/// What the proposal layers say of every anchor of a batch's features, in the order of
/// detect::make_anchors.
struct ProposalOutput {
  torch::Tensor scores;  // [B, anchors]
  torch::Tensor codes;   // [B, anchors, 4]
};

/// Boxes in pixels of one image of a batch, which has that size.
struct ImageBoxes {
  std::span<const Box> boxes;
  Size image;
};

/// Extractor, proposal layers, and the network that classifies boxes. Norms always use their moving
/// averages, in training too.
class DetectorImpl : public torch::nn::Module {
 public:
  explicit DetectorImpl(const ModelSpec& spec);

  const ModelSpec& spec() const { return spec_; }
  const ModelSpec& extractor_spec() const { return extractor_->spec(); }
  const ModelSpec& box_spec() const { return boxes_->spec(); }

  /// `images` [B, 3, H, W], scaled and normalised.
  NetworkOutput extract(const torch::Tensor& images, const ForwardOptions& options = {}) {
    return extractor_->forward(images, options);
  }
  /// `areas`: of images that are smaller than the batch.
  ProposalOutput score_anchors(const torch::Tensor& features, const ImageAreas& areas = {});
  /// What the head says of boxes, those of one image after the other: [boxes, 1 + 5 * classes].
  torch::Tensor classify(const torch::Tensor& features, std::span<const ImageBoxes> boxes);
  /// Its two steps, for at least one box: what is cropped, and what is said of it.
  torch::Tensor crop(const torch::Tensor& features, std::span<const ImageBoxes> boxes);
  NetworkOutput classify_crops(const torch::Tensor& crops, const ForwardOptions& options = {}) {
    return boxes_->forward(crops, options);
  }

  /// Of an image of that size.
  Size feature_size(Size image) const;

  std::vector<Box> anchors(Size features) const;
  /// The boxes of an image to look at, from the scores and codes of its anchors.
  std::vector<Box> propose(std::span<const float> scores, std::span<const float> codes,
                           std::span<const Box> anchors, Size image) const;

  /// The parameters that learn, of what extracts features and scores anchors, and of what
  /// classifies boxes.
  std::vector<torch::Tensor> extractor_parameters() const;
  std::vector<torch::Tensor> box_parameters() const;

  Network extractor() const { return extractor_; }
  Network boxes() const { return boxes_; }

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
  double head_share = 1;                      // of the FLOPs of all proposals in the dense head
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
