#include "train/torch/detector_parts.h"

#include "train/torch/halting_torch.h"

namespace sact::train {

DetectorParts::DetectorParts(Detector detector, const DetectorPartsOptions& options)
    : detector_(std::move(detector)), options_(options) {
  extract_ = [this](const std::vector<torch::Tensor>& inputs) -> std::vector<torch::Tensor> {
    ForwardOptions forward = forward_options();
    forward.areas = ImageAreas(inputs[1]);
    const NetworkOutput extracted = detector_->extract(inputs[0], forward);
    const ProposalOutput proposal = detector_->score_anchors(extracted.features, forward.areas);
    return {extracted.features, at_least_float32(proposal.scores), at_least_float32(proposal.codes),
            ponder_penalty(extracted)};
  };
  classify_ = [this](const std::vector<torch::Tensor>& inputs) -> std::vector<torch::Tensor> {
    return {detector_->classify_crops(inputs[0], forward_options())};
  };
  if (!options_.record) return;
  const torch::Device device = detector_->parameters().front().device();
  stream_ = RecordingStream::create(device);
  recorded_extract_ = RecordedPart::create(device, extract_, detector_->extractor_parameters());
  recorded_classify_ = RecordedPart::create(device, classify_, detector_->box_parameters());
}

ForwardOptions DetectorParts::forward_options() const {
  ForwardOptions forward;
  if (options_.hard) forward.hard = &*options_.hard;
  return forward;
}

DetectorParts::Extracted DetectorParts::extract(const torch::Tensor& images,
                                                const ImageAreas& areas) {
  const std::vector<torch::Tensor> inputs = {images, areas.sizes()};
  const std::vector<torch::Tensor> parts =
      recorded_extract_ ? recorded_extract_->run(inputs) : extract_(inputs);
  return {parts[0], {parts[1], parts[2]}, parts[3]};
}

torch::Tensor DetectorParts::classify(const torch::Tensor& features,
                                      std::span<const ImageBoxes> boxes) {
  const torch::Tensor crops = detector_->crop(features, boxes);
  const int64_t count = crops.size(0);
  if (count == 0) return detector_->classify(features, boxes);
  if (!recorded_classify_) return classify_({crops}).front();
  // Crops of nothing fill up to a number that comes again.
  const int64_t missing =
      (options_.recorded_boxes - count % options_.recorded_boxes) % options_.recorded_boxes;
  const torch::Tensor input = missing == 0
                                  ? crops
                                  : torch::constant_pad_nd(crops, {0, 0, 0, 0, 0, 0, 0, missing})
                                        .contiguous(torch::MemoryFormat::ChannelsLast);
  return recorded_classify_->run({input}).front().narrow(0, 0, count);
}

}  // namespace sact::train
