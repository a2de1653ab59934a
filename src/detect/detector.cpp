#include "detect/detector.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "detect/anchors.h"
#include "detect/proposals.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact::detect {
namespace {

// Crops of as many boxes as fit are classified together; 300 boxes of the usual network do.
constexpr int64_t kMostCropBytes = 128 << 20;

const ModelSpec& detector_spec(const ModelFile& file) {
  expect_detector(file);
  return file.spec();
}

engine::WeightSource weights_of(const ModelFile& file) {
  return [&file](const WeightInfo& info) { return file.values(info); };
}

std::shared_ptr<const engine::Plan> box_plan(const ModelFile& file, const kernels::Table& table,
                                             kernels::DataType type) {
  const auto weights = [&file](WeightInfo info) {
    info.name = box_weight_name(file.spec(), info.name);
    return file.values(info);
  };
  return std::make_shared<engine::Plan>(box_spec(file.spec()), weights, table, type);
}

void check_finite(std::span<const float> values) {
  if (!all_finite(values)) fail("the network's output is not finite");
}

}  // namespace

DetectorPlan::DetectorPlan(const ModelFile& file, const kernels::Table& table,
                           kernels::DataType type)
    : spec(detector_spec(file)),
      extractor(std::make_shared<engine::Plan>(file, table, type)),
      boxes(box_plan(file, table, type)),
      proposals(std::make_shared<engine::ProposalPlan>(spec, weights_of(file), table, type)) {}

Detector::Detector(std::shared_ptr<const DetectorPlan> plan, int threads)
    : plan_(std::move(plan)),
      team_(std::make_shared<ThreadTeam>(threads)),
      extractor_(plan_->extractor, team_),
      proposals_(plan_->proposals, team_),
      boxes_(plan_->boxes, team_) {
  expect_memory(
      uint64_t(box_bytes()),  // of images of any size
      fmt::format("a detector with {} proposals, each cropped to {}x{} features,",
                  spec().detection->proposals, spec().detection->crop, spec().detection->crop));
}

Detector::Detector(const ModelFile& file, const kernels::Table& table, kernels::DataType type,
                   int threads)
    : Detector(std::make_shared<const DetectorPlan>(file, table, type), threads) {}

/// Boxes that are classified together.
int64_t Detector::most_boxes() const {
  const Size cells{spec().detection->cells(), spec().detection->cells()};
  const int64_t bytes = cells.positions() * spec().block_channels(spec().blocks() - 2) * 4;
  return std::max<int64_t>(1, kMostCropBytes / bytes);
}

/// What the proposals of an image take.
int64_t Detector::box_bytes() const {
  const Size cells{spec().detection->cells(), spec().detection->cells()};
  const int64_t proposals = spec().detection->proposals;
  const int64_t map_bytes = boxes_.plan().spec.block_size(0, cells).positions() * 8;
  const int together = int(std::min(proposals, most_boxes()));
  return boxes_.bytes_needed(together, cells) + proposals * map_bytes;
}

int64_t Detector::bytes_needed(Size scaled) const {
  return extractor_.bytes_needed(1, scaled) + box_bytes();
}

std::span<const Box> Detector::anchors_of(Size grid) {
  if (grid != grid_) {
    anchors_ = make_anchors(anchor_settings(spec()), grid);
    grid_ = grid;
  }
  return anchors_;
}

DetectorOutputs Detector::run(const std::vector<float>& planes, Size size) {
  DetectorOutputs result;
  result.image = size;
  Stopwatch watch;
  result.extractor = std::move(extractor_.run(planes, 1, size).front());
  check_finite(result.extractor.features);
  result.ms.extractor = watch.lap();

  const Size grid = spec().block_size(spec().blocks() - 2, size);
  result.anchors = proposals_.run(result.extractor.features, grid);
  result.proposals = propose(anchors_of(grid), result.anchors.scores, result.anchors.codes, size,
                             proposal_options(*spec().detection));
  result.ms.proposals = watch.lap();
  classify(result, grid);
  return result;
}

/// The features of the proposals, and what the last block and the head make of them.
void Detector::classify(DetectorOutputs& result, Size grid) {
  const CropSettings settings{spec().detection->crop, spec().detection->pool};
  const Size cells{settings.cells(), settings.cells()};
  const int channels = spec().block_channels(spec().blocks() - 2);
  const FeatureMap features{result.extractor.features.data(), grid, channels};
  const int64_t values = cells.positions() * channels;  // of a box
  const size_t most = size_t(most_boxes());
  std::vector<CropBox> boxes;
  for (const Box& box : result.proposals) boxes.push_back(crop_box(box, result.image));
  Stopwatch watch;
  for (size_t first = 0; first < boxes.size(); first += most) {
    const auto now = std::span(boxes).subspan(first, std::min(most, boxes.size() - first));
    crops_.resize(now.size() * size_t(values));
    crop_and_pool(features, now, settings, *team_, crops_.data());
    result.ms.crops += watch.lap();
    for (ImageResult& box : boxes_.run(crops_, int(now.size()), cells)) {
      result.outputs.insert(result.outputs.end(), box.logits.begin(), box.logits.end());
      result.box_maps.push_back(std::move(box.blocks.front()));
      result.box_flops += box.flops;
    }
    result.ms.boxes += watch.lap();
  }
  check_finite(result.outputs);
}

DetectedImage Detector::detect(const io::Image& image, float least_score, int most) {
  Stopwatch watch;
  const Size given{image.height, image.width};
  DetectedImage detected;
  detected.scaled = detection_size(*spec().detection, given);
  extractor_.expect_memory(1, detected.scaled);
  const std::vector<float> planes =
      network_input(image, io::whole(image), detected.scaled, spec().input);
  const double scale_ms = watch.lap();

  DetectorOutputs outputs = run(planes, detected.scaled);
  detected.ms = outputs.ms;
  detected.ms.scale = scale_ms;
  watch.lap();

  detected.proposals = int(outputs.proposals.size());
  detected.detections =
      find_detections(outputs.proposals, outputs.outputs, spec().classes, detected.scaled,
                      {least_score, most, float(spec().detection->nms_iou)});
  for (Detection& detection : detected.detections) {
    detection.box = scaled(detection.box, float(given.width) / float(detected.scaled.width),
                           float(given.height) / float(detected.scaled.height));
  }
  outputs.extractor.features = {};
  detected.extractor = std::move(outputs.extractor);
  detected.dense_flops = dense_flops(extractor(), detected.scaled);
  const Size cells{spec().detection->cells(), spec().detection->cells()};
  detected.box_flops = outputs.box_flops;
  detected.dense_box_flops = detected.proposals * dense_flops(boxes_.plan().spec, cells);
  detected.ms.rest = watch.lap();
  return detected;
}

}  // namespace sact::detect
