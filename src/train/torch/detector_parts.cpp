#include "train/torch/detector_parts.h"

#include "train/torch/halting_torch.h"

namespace sact::train {

DetectorParts::DetectorParts(Detector detector, bool record) : detector_(std::move(detector)) {
  extract_ = [this](const torch::Tensor& image) -> std::vector<torch::Tensor> {
    const NetworkOutput extracted = detector_->extract(image);
    const ProposalOutput proposal = detector_->score_anchors(extracted.features);
    return {extracted.features, at_least_float32(proposal.scores), at_least_float32(proposal.codes),
            ponder_penalty(extracted)};
  };
  classify_ = [this](const torch::Tensor& crops) -> std::vector<torch::Tensor> {
    return {detector_->classify_crops(crops)};
  };
  if (!record) return;
  const torch::Device device = detector_->parameters().front().device();
  stream_ = RecordingStream::create(device);
  recorded_extract_ = RecordedPart::create(device, extract_, detector_->extractor_parameters());
  recorded_classify_ = RecordedPart::create(device, classify_, detector_->box_parameters());
}

DetectorParts::Extracted DetectorParts::extract(const torch::Tensor& image) {
  const std::vector<torch::Tensor> parts =
      recorded_extract_ ? recorded_extract_->run(image) : extract_(image);
  return {parts[0], {parts[1], parts[2]}, parts[3]};
}

torch::Tensor DetectorParts::classify(const torch::Tensor& features, std::span<const Box> boxes,
                                      Size image) {
  if (boxes.empty()) return detector_->classify(features, boxes, image);
  const torch::Tensor crops = detector_->crop(features, boxes, image);
  return (recorded_classify_ ? recorded_classify_->run(crops) : classify_(crops)).front();
}

}  // namespace sact::train
