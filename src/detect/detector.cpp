#include "detect/detector.h"

#include "base/stopwatch.h"
#include "detect/anchors.h"
#include "detect/proposals.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact::detect {

ObjectDetector::ObjectDetector(const ModelSpec& spec, std::unique_ptr<DetectorSession> session)
    : spec_(spec),
      extractor_spec_(sact::extractor_spec(spec)),
      box_spec_(sact::box_spec(spec)),
      session_(std::move(session)) {}

std::span<const Box> ObjectDetector::anchors_of(Size grid) {
  if (grid != grid_) {
    anchors_ = make_anchors(anchor_settings(spec_), grid);
    grid_ = grid;
  }
  return anchors_;
}

DetectorOutputs ObjectDetector::run(const InputView& image) {
  DetectorOutputs result;
  result.image = image.size;
  Stopwatch watch;
  result.extractor = session_->extract(image);
  result.ms.extractor = watch.lap();

  result.anchors = session_->score_anchors();
  const Size grid = spec_.block_size(spec_.blocks() - 2, image.size);
  result.proposals = propose(anchors_of(grid), result.anchors.scores, result.anchors.codes,
                             image.size, proposal_options(*spec_.detection));
  result.ms.proposals = watch.lap();

  result.boxes = session_->classify(result.proposals);
  result.ms.crops = result.boxes.crop_ms;
  result.ms.boxes = result.boxes.network_ms;
  return result;
}

ObjectDetector::Extracted ObjectDetector::extract(const io::PixelView& image, int side) {
  const View view = view_of(image, spec_.input, {Framing::kKeepAspect, {side, side}});
  session_->expect_memory(view.size);
  const std::vector<float> pixels = network_pixels(image, view, spec_.input);
  return {session_->extract(pixels_view(pixels, 1, view.size)), view.size};
}

DetectedImage ObjectDetector::detect(const io::PixelView& image, const DetectOptions& options) {
  Stopwatch watch;
  const Size given{image.height, image.width};
  DetectedImage detected;
  const View view = detection_view(image, *spec_.detection);
  detected.scaled = view.size;
  session_->expect_memory(view.size);
  const std::vector<float> pixels = network_pixels(image, view, spec_.input);
  const double scale_ms = watch.lap();

  DetectorOutputs outputs = run(pixels_view(pixels, 1, view.size));
  detected.ms = outputs.ms;
  detected.ms.scale = scale_ms;
  watch.lap();

  detected.proposals = int(outputs.proposals.size());
  detected.detections =
      find_detections(outputs.proposals, outputs.boxes.outputs, spec_.classes, detected.scaled,
                      {float(options.score), options.most, float(spec_.detection->nms_iou)});
  for (Detection& detection : detected.detections) {
    detection.box = scaled(detection.box, float(given.width) / float(detected.scaled.width),
                           float(given.height) / float(detected.scaled.height));
  }
  detected.extractor = std::move(outputs.extractor);
  detected.dense_flops = dense_flops(extractor_spec_, detected.scaled);
  const Size cells{spec_.detection->cells(), spec_.detection->cells()};
  detected.box_flops = outputs.boxes.flops;
  detected.dense_box_flops = detected.proposals * dense_flops(box_spec_, cells);
  detected.ms.rest = watch.lap();
  return detected;
}

}  // namespace sact::detect
