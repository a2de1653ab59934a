#include "engine/cuda/detector_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"
#include "detect/crop.h"
#include "model/detection.h"
#include "model/preprocess.h"

namespace sact::engine {

CudaDetectorPlan::CudaDetectorPlan(const ModelSpec& detector, const WeightSource& weights,
                                   cuda::Element type, const DeviceFacts& device)
    : spec(detector),
      extractor(std::make_shared<CudaPlan>(extractor_spec(detector), weights, type, device)),
      boxes(std::make_shared<CudaPlan>(box_spec(detector), box_weights(detector, weights), type,
                                       device)),
      proposals(std::make_shared<CudaProposalPlan>(detector, weights, type)) {}

CudaDetectorSession::CudaDetectorSession(std::shared_ptr<const CudaDetectorPlan> plan,
                                         const HaltingControl& halting)
    : CudaDetectorSession(plan, halting, cuda_settings(plan->extractor->device)) {}

CudaDetectorSession::CudaDetectorSession(std::shared_ptr<const CudaDetectorPlan> plan,
                                         const HaltingControl& halting,
                                         const CudaSettings& settings)
    : plan_(std::move(plan)),
      extractor_(plan_->extractor, halting, settings, {.features_stay = true}),
      proposals_(plan_->proposals),
      boxes_(plan_->boxes, halting, settings, {.input_is_placed = true}) {}

Size CudaDetectorSession::cells() const {
  const int side = plan_->spec.detection->cells();
  return {side, side};
}

void CudaDetectorSession::set_halting(const HaltingControl& halting) {
  for (CudaSession* part : {&extractor_, &boxes_}) part->set_halting(halting);
}

void CudaDetectorSession::set_interruption(std::function<bool()> interrupted) {
  for (CudaSession* part : {&extractor_, &boxes_}) part->set_interruption(interrupted);
}

ImageResult CudaDetectorSession::extract(const InputView& image) {
  SACT_ASSERT(image.count == 1);
  ImageResult result = std::move(extractor_.run(image).front());
  image_ = image.size;
  return result;
}

AnchorOutputs CudaDetectorSession::score_anchors() {
  return proposals_.run(extractor_, extractor_.device_features());
}

/// Where boxes lie, to the device.
void CudaDetectorSession::upload(std::span<const Box> boxes) {
  const size_t bytes = boxes.size() * sizeof(detect::CropBox);
  if (places_.bytes() < bytes) {
    places_ = {};
    places_ = DeviceMemory(bytes, "boxes");
    pinned_places_ = {};
    pinned_places_ = PinnedMemory(bytes);
  }
  auto* places = reinterpret_cast<detect::CropBox*>(pinned_places_.data());
  std::transform(boxes.begin(), boxes.end(), places,
                 [&](const Box& box) { return detect::crop_box(box, image_); });
  expect(
      cudaMemcpyAsync(places_.data(), places, bytes, cudaMemcpyHostToDevice, boxes_.stream().get()),
      "boxes");
}

void CudaDetectorSession::crop(int first, int count, void* rows) {
  const CudaSession::DeviceFeatures features = extractor_.device_features();
  cuda::Crops call;
  call.features = features.grid;
  call.channels = features.channels;
  call.input = features.rows;
  call.boxes = reinterpret_cast<const detect::CropBox*>(places_.data()) + first;
  call.count = count;
  call.crop = plan_->spec.detection->crop;
  call.pool = plan_->spec.detection->pool;
  call.output = rows;
  cuda::Launch launch = boxes_.launch();
  launch.overlap = false;  // a copy comes before
  cuda::run(call, plan_->boxes->type, launch);
}

BoxOutputs CudaDetectorSession::classify(std::span<const Box> boxes) {
  BoxOutputs result;
  if (boxes.empty()) return result;
  Stopwatch watch;
  upload(boxes);
  std::vector<std::pair<Event, Event>> crops;  // their begin and end
  const auto place = [&](int first, int count, void* rows) {
    auto& [begin, end] = crops.emplace_back();
    begin.record(boxes_.stream());
    crop(first, count, rows);
    end.record(boxes_.stream());
  };
  for (ImageResult& box : boxes_.run_placed(int(boxes.size()), cells(), place)) {
    result.outputs.insert(result.outputs.end(), box.logits.begin(), box.logits.end());
    result.maps.push_back(std::move(box.blocks.front()));
    result.flops += box.flops;
  }
  for (auto& [begin, end] : crops) result.crop_ms += end.milliseconds_since(begin);
  result.network_ms = watch.lap() - result.crop_ms;
  if (!all_finite(result.outputs)) fail_not_finite();
  return result;
}

}  // namespace sact::engine
