#include "train/torch/detector.h"

#include <algorithm>

#include "base/error.h"
#include "detect/proposals.h"
#include "model/detection.h"
#include "train/torch/crop_torch.h"
#include "train/torch/flops_share.h"
#include "train/torch/network_weights.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

torch::nn::Conv2d convolution(int in, int out, int kernel) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
}

std::span<const float> span_of(const torch::Tensor& host) {
  return {host.data_ptr<float>(), size_t(host.numel())};
}

std::vector<torch::Tensor> learning(std::vector<torch::Tensor> parameters) {
  std::erase_if(parameters, [](const torch::Tensor& each) { return !each.requires_grad(); });
  return parameters;
}

torch::Tensor to_host(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
}

}  // namespace

DetectorImpl::DetectorImpl(const ModelSpec& spec) : spec_(spec) {
  validate(spec_, "the detector's spec");
  SACT_ASSERT(spec_.detection);
  extractor_ = register_module("extractor", Network(sact::extractor_spec(spec_)));
  boxes_ = register_module("boxes", Network(sact::box_spec(spec_)));
  const int features = spec_.block_channels(spec_.blocks() - 2);
  const int channels = spec_.detection->proposal_channels, anchors = spec_.detection->anchors();
  conv_ = register_module("proposal_conv", convolution(features, channels, 3));
  score_ = register_module("proposal_score", convolution(channels, anchors, 1));
  box_ = register_module("proposal_box", convolution(channels, 4 * anchors, 1));
  eval();
  for (Network network : {extractor_, boxes_}) network->freeze_norms();
}

Size DetectorImpl::feature_size(Size image) const {
  return extractor_spec().block_size(extractor_spec().blocks() - 1, image);
}

ProposalOutput DetectorImpl::score_anchors(const torch::Tensor& features, const ImageAreas& areas) {
  const int64_t level = ImageAreas::level_of(extractor_spec().blocks() - 1);
  const torch::Tensor outside = areas.outside(level, size_of(features));
  const torch::Tensor hidden = torch::relu(conv_(filled(features, outside)));
  // [B, anchors of a cell, H, W] becomes [B, H, W, anchors of a cell].
  auto by_cells = [](const torch::Tensor& maps) { return maps.permute({0, 2, 3, 1}).contiguous(); };
  const int64_t batch = features.size(0);
  return {by_cells(score_(hidden)).view({batch, -1}), by_cells(box_(hidden)).view({batch, -1, 4})};
}

torch::Tensor DetectorImpl::crop(const torch::Tensor& features, std::span<const ImageBoxes> boxes) {
  std::vector<ImageCrops> crops;
  for (const ImageBoxes& of_image : boxes) {
    crops.push_back({{}, feature_size(of_image.image)});
    for (const Box& box : of_image.boxes) {
      crops.back().boxes.push_back(detect::crop_box(box, of_image.image));
    }
  }
  const detect::CropSettings settings{spec_.detection->crop, spec_.detection->pool};
  const torch::Tensor pooled = crop_and_pool(features, crops, settings);
  return pooled.is_cuda() ? pooled.contiguous(torch::MemoryFormat::ChannelsLast) : pooled;
}

torch::Tensor DetectorImpl::classify(const torch::Tensor& features,
                                     std::span<const ImageBoxes> boxes) {
  const bool none = std::all_of(boxes.begin(), boxes.end(),
                                [](const ImageBoxes& image) { return image.boxes.empty(); });
  if (none) return features.new_zeros({0, spec_.outputs()});
  return classify_crops(crop(features, boxes)).logits;
}

std::vector<torch::Tensor> DetectorImpl::extractor_parameters() const {
  std::vector<torch::Tensor> parameters = learning(extractor_->parameters());
  for (const torch::nn::Conv2d& layer : {conv_, score_, box_}) {
    for (const torch::Tensor& parameter : learning(layer->parameters())) {
      parameters.push_back(parameter);
    }
  }
  return parameters;
}

std::vector<torch::Tensor> DetectorImpl::box_parameters() const {
  return learning(boxes_->parameters());
}

std::vector<Box> DetectorImpl::anchors(Size features) const {
  return detect::make_anchors(detect::anchor_settings(spec_), features);
}

std::vector<Box> DetectorImpl::propose(std::span<const float> scores, std::span<const float> codes,
                                       std::span<const Box> anchors, Size image) const {
  return detect::propose(anchors, scores, codes, image, detect::proposal_options(*spec_.detection))
      .boxes;
}

DetectionOutput detect(Detector detector, const torch::Tensor& image,
                       const detect::DetectionOptions& options) {
  torch::NoGradGuard no_grad;
  const Size size = size_of(image);
  const NetworkOutput extracted = detector->extract(image);
  const std::vector<Box> anchors = detector->anchors(size_of(extracted.features));
  DetectionOutput output;
  const ProposalOutput scored = detector->score_anchors(extracted.features);
  const torch::Tensor scores = to_host(scored.scores), codes = to_host(scored.codes);
  output.proposals = detector->propose(span_of(scores), span_of(codes), anchors, size);
  const ImageBoxes boxes{output.proposals, size};
  if (output.proposals.empty()) {
    output.outputs = to_host(detector->classify(extracted.features, {&boxes, 1}));
  } else {
    const torch::Tensor crops = detector->crop(extracted.features, {&boxes, 1});
    const NetworkOutput said = detector->classify_crops(crops);
    output.outputs = to_host(said.logits);
    const FlopsShare share(detector->box_spec(), size_of(crops));
    output.head_share = share.of(said.blocks).item<double>();
  }
  output.detections = detect::find_detections(output.proposals, span_of(output.outputs),
                                              detector->spec().classes, size, options);
  output.extracted = results_of(detector->extractor_spec(), extracted, size).front();
  return output;
}

torch::OrderedDict<std::string, torch::Tensor> named_tensors(DetectorImpl& detector) {
  auto file_name = [&](const std::string& name) -> std::string {
    if (name.starts_with("extractor.")) return name.substr(10);
    if (name.starts_with("boxes.")) return box_weight_name(detector.spec(), name.substr(6));
    SACT_ASSERT(name.starts_with("proposal_"));
    return "proposal." + name.substr(9);
  };
  torch::OrderedDict<std::string, torch::Tensor> tensors;
  for (auto& item : detector.named_parameters()) {
    tensors.insert(file_name(item.key()), item.value());
  }
  for (auto& item : detector.named_buffers()) tensors.insert(file_name(item.key()), item.value());
  return tensors;
}

Detector make_detector(const ModelSpec& spec, const std::vector<Weight>& weights) {
  Detector detector(spec);
  set_weights(named_tensors(*detector), weights);
  return detector;
}

Detector load_detector(const ModelFile& file) {
  expect_detector(file);
  return make_detector(file.spec(), read_weights(file, file.spec()));
}

std::vector<Weight> detector_weights(Detector detector) {
  return weights_of(named_tensors(*detector), detector->spec());
}

}  // namespace sact::train
