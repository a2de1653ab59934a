#include "train/torch/detector_parts.h"

#include "train/torch/flops_share.h"
#include "train/torch/halting_torch.h"

namespace sact::train {

DetectorParts::DetectorParts(Detector detector, const DetectorPartsOptions& options)
    : detector_(std::move(detector)), options_(options) {
  extract_ = [this](const std::vector<torch::Tensor>& inputs) -> std::vector<torch::Tensor> {
    ForwardOptions forward = forward_options();
    forward.areas = ImageAreas(inputs[1]);
    const NetworkOutput extracted = detector_->extract(inputs[0], forward);
    const ProposalOutput proposal = detector_->score_anchors(extracted.features, forward.areas);
    const FlopsShare share(detector_->extractor_spec(), size_of(inputs[0]));
    return {extracted.features, at_least_float32(proposal.scores), at_least_float32(proposal.codes),
            ponder_penalty(extracted), share.of(extracted.blocks)};
  };
  classify_ = [this](const std::vector<torch::Tensor>& inputs) -> std::vector<torch::Tensor> {
    const NetworkOutput output = detector_->classify_crops(inputs[0], forward_options());
    const FlopsShare share(detector_->box_spec(), size_of(inputs[0]));
    return {output.logits, output.blocks.front().ponder_cost.mean({1, 2}),
            share.of_images(output.blocks)};
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
  return {parts[0], {parts[1], parts[2]}, parts[3], parts[4]};
}

DetectorParts::Classified DetectorParts::classify(const torch::Tensor& features,
                                                  std::span<const ImageBoxes> boxes) {
  const torch::Tensor crops = detector_->crop(features, boxes);
  const int64_t count = crops.size(0);
  if (count == 0) {
    const auto options = features.options().dtype(torch::kFloat32).requires_grad(false);
    return {detector_->classify(features, boxes), torch::zeros({0}, options),
            torch::ones({}, options)};
  }
  std::vector<torch::Tensor> said;
  if (recorded_classify_) {
    // Crops of nothing fill up to a number that comes again.
    const int64_t missing =
        (options_.recorded_boxes - count % options_.recorded_boxes) % options_.recorded_boxes;
    const torch::Tensor input = missing == 0
                                    ? crops
                                    : torch::constant_pad_nd(crops, {0, 0, 0, 0, 0, 0, 0, missing})
                                          .contiguous(torch::MemoryFormat::ChannelsLast);
    said = recorded_classify_->run({input});
  } else {
    said = classify_({crops});
  }
  return {said[0].narrow(0, 0, count), said[1].narrow(0, 0, count),
          said[2].narrow(0, 0, count).mean()};
}

}  // namespace sact::train
