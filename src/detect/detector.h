// Finds the objects of images with the CPU engine: the extractor on the scaled image, proposals in
// its features, crops of these, and the last block and head on all crops as one batch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "detect/crop.h"
#include "detect/detections.h"
#include "engine/cpu/proposal_layers.h"
#include "engine/cpu/session.h"
#include "io/image.h"

namespace sact::detect {

/// Milliseconds of each stage.
struct DetectorTimes {
  double scale = 0;      // the image, to the size that the network sees
  double extractor = 0;  // all blocks but the last
  double proposals = 0;  // layers that propose boxes, and suppression
  double crops = 0;      // features of the boxes
  double boxes = 0;      // the last block and the head
  double rest = 0;       // scores, refinement, suppression

  double total() const { return scale + extractor + proposals + crops + boxes + rest; }
};

/// What the networks say of an image. Boxes are in pixels of the scaled image.
struct DetectorOutputs {
  Size image;             // as it was scaled
  ImageResult extractor;  // features, maps of its blocks, FLOPs
  engine::AnchorOutputs anchors;
  std::vector<Box> proposals;         // the best first
  std::vector<float> outputs;         // [proposals, 1 + 5 * classes]: what the head gives
  std::vector<BlockResult> box_maps;  // of the last block, for each proposal
  int64_t box_flops = 0;              // of all proposals
  DetectorTimes ms;
};

struct DetectedImage {
  std::vector<Detection> detections;  // in pixels of the image that was given
  Size scaled;
  ImageResult extractor;    // without the features
  int64_t dense_flops = 0;  // of the extractor, at that size
  int64_t box_flops = 0, dense_box_flops = 0;
  int proposals = 0;
  DetectorTimes ms;
};

/// The weights of a detector, ready for the engine; any number of detectors may share them.
struct DetectorPlan {
  DetectorPlan(const ModelFile& file, const kernels::Table& table, kernels::DataType type);

  ModelSpec spec;
  std::shared_ptr<const engine::Plan> extractor, boxes;
  std::shared_ptr<const engine::ProposalPlan> proposals;
};

/// Belongs to one thread of its user at a time.
class Detector {
 public:
  Detector(std::shared_ptr<const DetectorPlan> plan, int threads);
  Detector(const ModelFile& file, const kernels::Table& table, kernels::DataType type, int threads);

  /// sact::Error when the image has a shape that cannot be scaled, or when the outputs are not
  /// finite.
  DetectedImage detect(const io::Image& image, float least_score = 0.05f, int most = 100);

  /// The same before its last stage, for a prepared image [3, H, W].
  DetectorOutputs run(const std::vector<float>& planes, Size size);

  /// Memory for an image that is scaled to this size.
  int64_t bytes_needed(Size scaled) const;

  const ModelSpec& spec() const { return plan_->spec; }
  const ModelSpec& extractor() const { return extractor_.plan().spec; }

 private:
  int64_t most_boxes() const;
  int64_t box_bytes() const;
  std::span<const Box> anchors_of(Size grid);
  void classify(DetectorOutputs& result, Size grid);

  std::shared_ptr<const DetectorPlan> plan_;
  std::shared_ptr<ThreadTeam> team_;
  engine::Session extractor_;
  engine::ProposalSession proposals_;
  engine::Session boxes_;
  Size grid_;  // that the anchors are of
  std::vector<Box> anchors_;
  std::vector<float> crops_;  // [boxes, cells, cells, channels]
};

}  // namespace sact::detect
