#include "engine/cpu/detector_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "model/detection.h"
#include "model/preprocess.h"

namespace sact::engine {
namespace {

// Crops of as many boxes as fit are classified together; 300 boxes of the usual network do.
constexpr int64_t kMostCropBytes = 128 << 20;

void check_finite(const detect::FeatureMap& features) {
  for (int64_t position = 0; position < features.size.positions(); ++position) {
    if (!all_finite({features.row(position), size_t(features.channels)})) fail_not_finite();
  }
}

}  // namespace

DetectorPlan::DetectorPlan(const ModelSpec& detector, const WeightSource& weights,
                           const kernels::Table& table, kernels::DataType type,
                           Multiplications multiplications)
    : spec(detector),
      extractor(
          std::make_shared<Plan>(extractor_spec(detector), weights, table, type, multiplications)),
      boxes(std::make_shared<Plan>(box_spec(detector), box_weights(detector, weights), table, type,
                                   multiplications)),
      proposals(std::make_shared<ProposalPlan>(detector, weights, table, type, multiplications)) {}

CpuDetectorSession::CpuDetectorSession(std::shared_ptr<const DetectorPlan> plan, int threads,
                                       const HaltingControl& halting)
    : plan_(std::move(plan)),
      team_(std::make_shared<ThreadTeam>(threads)),
      extractor_(plan_->extractor, team_, halting),
      proposals_(plan_->proposals, team_),
      boxes_(plan_->boxes, team_, halting) {
  const DetectionSpec& detection = *plan_->spec.detection;
  sact::expect_memory(uint64_t(box_bytes()),  // of images of any size
                      fmt::format("a detector with {} proposals, each cropped to {}x{} features,",
                                  detection.proposals, detection.crop, detection.crop));
}

Size CpuDetectorSession::cells() const {
  const int side = plan_->spec.detection->cells();
  return {side, side};
}

/// Boxes that are classified together.
int64_t CpuDetectorSession::most_boxes() const {
  const int64_t bytes = cells().positions() * plan_->boxes->spec.stem_channels() * 4;
  return std::max<int64_t>(1, kMostCropBytes / bytes);
}

/// What the proposals of an image take.
int64_t CpuDetectorSession::box_bytes() const {
  const int64_t proposals = plan_->spec.detection->proposals;
  const int64_t map_bytes = plan_->boxes->spec.block_size(0, cells()).positions() * 8;
  const int together = int(std::min(proposals, most_boxes()));
  return boxes_.bytes_needed(together, cells()) + proposals * map_bytes;
}

int64_t CpuDetectorSession::bytes_needed(Size scaled) const {
  return extractor_.bytes_needed(1, scaled) + box_bytes();
}

void CpuDetectorSession::expect_memory(Size scaled) const {
  extractor_.expect_memory(1, scaled);
}

void CpuDetectorSession::set_halting(const HaltingControl& halting) {
  for (CpuSession* part : {&extractor_, &boxes_}) part->set_halting(halting);
}

void CpuDetectorSession::set_interruption(std::function<bool()> interrupted) {
  for (CpuSession* part : {&extractor_, &boxes_}) part->set_interruption(interrupted);
}

ImageResult CpuDetectorSession::extract(const InputView& image) {
  SACT_ASSERT(image.count == 1);
  ImageResult result = std::move(extractor_.run(image).front());
  image_ = image.size;
  check_finite(features());
  return result;
}

AnchorOutputs CpuDetectorSession::score_anchors() {
  return proposals_.run(features());
}

BoxOutputs CpuDetectorSession::classify(std::span<const Box> boxes) {
  const detect::CropSettings settings{plan_->spec.detection->crop, plan_->spec.detection->pool};
  const int channels = features().channels;
  const size_t values = size_t(cells().positions()) * size_t(channels);  // of a box
  const size_t most = size_t(most_boxes());
  std::vector<detect::CropBox> places;
  for (const Box& box : boxes) places.push_back(detect::crop_box(box, image_));
  BoxOutputs result;
  Stopwatch watch;
  for (size_t first = 0; first < places.size(); first += most) {
    const auto now = std::span(places).subspan(first, std::min(most, places.size() - first));
    crops_.resize(now.size() * values);
    crop_and_pool(features(), now, settings, *team_, crops_.data());
    result.crop_ms += watch.lap();
    for (ImageResult& box : boxes_.run(pixels_view(crops_, int(now.size()), cells(), channels))) {
      result.outputs.insert(result.outputs.end(), box.logits.begin(), box.logits.end());
      result.maps.push_back(std::move(box.blocks.front()));
      result.flops += box.flops;
    }
    result.network_ms += watch.lap();
  }
  if (!all_finite(result.outputs)) fail_not_finite();
  return result;
}

}  // namespace sact::engine
