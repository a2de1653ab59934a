#include "detect/detector.h"

#include <iterator>
#include <utility>

#include "base/stopwatch.h"
#include "detect/anchors.h"
#include "detect/box_cuts.h"
#include "detect/proposals.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact::detect {

namespace {

void append(BoxOutputs& all, BoxOutputs&& more) {
  all.outputs.insert(all.outputs.end(), more.outputs.begin(), more.outputs.end());
  std::move(more.maps.begin(), more.maps.end(), std::back_inserter(all.maps));
  all.flops += more.flops;
  all.crop_ms += more.crop_ms;
  all.network_ms += more.network_ms;
}

}  // namespace

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

/// The best boxes first. With cuts, only while objects of a score that is wanted may come: when
/// there are already as many objects as are wanted, only better ones are. Leaves the proposals that
/// it looked at.
BoxOutputs ObjectDetector::look_at_boxes(Proposals& proposals, Size image,
                                         const DetectOptions& options) {
  constexpr size_t kBoxesTogether = 64;
  const std::span<const BoxCut> cuts =
      options.all_boxes ? std::span<const BoxCut>() : spec_.detection->box_cuts;
  const std::span<const Box> boxes = proposals.boxes;
  const size_t together = cuts.empty() ? boxes.size() : kBoxesTogether;
  BoxOutputs outputs;
  size_t done = 0;
  DetectionOptions wanted = detection_options(options);
  while (done < boxes.size()) {
    const float least = least_objectness(cuts, wanted.least_score);
    size_t last = done;
    while (last < std::min(boxes.size(), done + together) && proposals.objectness[last] >= least) {
      ++last;
    }
    if (last == done) break;
    append(outputs, session_->classify(boxes.subspan(done, last - done)));
    done = last;
    if (done == boxes.size() || cuts.empty()) break;
    const std::vector<Detection> found =
        find_detections(boxes.first(done), outputs.outputs, spec_.classes, image, wanted);
    if (!found.empty() && int(found.size()) == wanted.most) wanted.least_score = found.back().score;
  }
  proposals.boxes.resize(done);
  proposals.objectness.resize(done);
  return outputs;
}

DetectorOutputs ObjectDetector::run(const InputView& image, const DetectOptions& options) {
  DetectorOutputs result;
  result.image = image.size;
  Stopwatch watch;
  result.extractor = session_->extract(image);
  result.ms.extractor = watch.lap();

  result.anchors = session_->score_anchors();
  const Size grid = spec_.block_size(spec_.blocks() - 2, image.size);
  ProposalOptions proposed = proposal_options(*spec_.detection);
  if (options.boxes > 0) proposed.kept = options.boxes;
  result.proposals =
      propose(anchors_of(grid), result.anchors.scores, result.anchors.codes, image.size, proposed);
  result.ms.proposals = watch.lap();

  result.boxes = look_at_boxes(result.proposals, image.size, options);
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

ObjectDetector::Sighted ObjectDetector::sight(const io::PixelView& image,
                                              const DetectOptions& options) {
  const View view = view_to_run(image);
  const std::vector<float> pixels = network_pixels(image, view, spec_.input);
  DetectorOutputs outputs = run(pixels_view(pixels, 1, view.size), options);
  return {found_objects(outputs.proposals, outputs.boxes.outputs, spec_.classes, view.size,
                        detection_options(options)),
          std::move(outputs.proposals.objectness)};
}

DetectionOptions ObjectDetector::detection_options(const DetectOptions& options) const {
  return {float(options.score), options.most, float(spec_.detection->nms_iou)};
}

View ObjectDetector::view_to_run(const io::PixelView& image) const {
  const View view = detection_view(image, *spec_.detection);
  session_->expect_memory(view.size);
  return view;
}

DetectedImage ObjectDetector::detect(const io::PixelView& image, const DetectOptions& options) {
  Stopwatch watch;
  const Size given{image.height, image.width};
  DetectedImage detected;
  const View view = view_to_run(image);
  detected.scaled = view.size;
  const std::vector<float> pixels = network_pixels(image, view, spec_.input);
  const double scale_ms = watch.lap();

  DetectorOutputs outputs = run(pixels_view(pixels, 1, view.size), options);
  detected.ms = outputs.ms;
  detected.ms.scale = scale_ms;
  watch.lap();

  detected.objectness = std::move(outputs.proposals.objectness);
  detected.detections = find_detections(outputs.proposals.boxes, outputs.boxes.outputs,
                                        spec_.classes, detected.scaled, detection_options(options));
  for (Detection& detection : detected.detections) {
    detection.box = scaled(detection.box, float(given.width) / float(detected.scaled.width),
                           float(given.height) / float(detected.scaled.height));
  }
  detected.extractor = std::move(outputs.extractor);
  detected.dense_flops = dense_flops(extractor_spec_, detected.scaled);
  const Size cells{spec_.detection->cells(), spec_.detection->cells()};
  detected.box_flops = outputs.boxes.flops;
  detected.dense_box_flops = detected.proposals() * dense_flops(box_spec_, cells);
  detected.ms.rest = watch.lap();
  return detected;
}

}  // namespace sact::detect
