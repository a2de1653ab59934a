// Finds the objects of images on any back end: the extractor on the scaled image, proposals in its
// features, and the last block and head on what these have inside the proposals.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "detect/box_cuts.h"
#include "detect/detections.h"
#include "detect/proposals.h"
#include "io/pixel_view.h"
#include "model/preprocess.h"
#include "sact/detector.h"

namespace sact::detect {

/// More boxes of an image are never looked at.
inline constexpr int kMostBoxes = 10000;

/// What the networks say of an image. Boxes are in pixels of the scaled image.
struct DetectorOutputs {
  Size image;             // as it was scaled
  ImageResult extractor;  // maps of its blocks, FLOPs
  AnchorOutputs anchors;
  Proposals proposals;  // those that were looked at
  BoxOutputs boxes;     // of these
  DetectorTimes ms;
};

struct DetectedImage {
  std::vector<Detection> detections;  // in pixels of the image that was given
  Size scaled;
  ImageResult extractor;
  int64_t dense_flops = 0;  // of the extractor, at that size
  int64_t box_flops = 0, dense_box_flops = 0;
  std::vector<float> objectness;  // of the boxes that were looked at, the largest first
  int proposals() const { return int(objectness.size()); }
  DetectorTimes ms;
};

/// Belongs to one thread of its user at a time.
class ObjectDetector {
 public:
  ObjectDetector(const ModelSpec& spec, std::unique_ptr<DetectorSession> session);
  ObjectDetector(const LoadedDetector& network, int threads, const HaltingControl& halting = {})
      : ObjectDetector(network.spec(), network.session(threads, halting)) {}

  /// sact::Error when the image has a shape that cannot be scaled, or when the outputs are not
  /// finite.
  DetectedImage detect(const io::PixelView& image, const DetectOptions& options = {});

  /// Which boxes the objects of an image can be found in, of those that are looked at.
  struct Sighted {
    std::vector<FoundObject> objects;
    std::vector<float> objectness;  // of the boxes
  };
  Sighted sight(const io::PixelView& image, const DetectOptions& options);

  /// The extractor alone on a whole image, its shorter side scaled to `side`.
  struct Extracted {
    ImageResult result;
    Size scaled;
  };
  Extracted extract(const io::PixelView& image, int side);

  /// The same before its last stage, for one prepared image.
  DetectorOutputs run(const InputView& image, const DetectOptions& options = {});

  const ModelSpec& spec() const { return spec_; }
  DetectorSession& session() { return *session_; }

 private:
  std::span<const Box> anchors_of(Size grid);
  View view_to_run(const io::PixelView& image) const;
  DetectionOptions detection_options(const DetectOptions& options) const;
  BoxOutputs look_at_boxes(Proposals& proposals, Size image, const DetectOptions& options);

  ModelSpec spec_, extractor_spec_, box_spec_;
  std::unique_ptr<DetectorSession> session_;
  Size grid_;  // that the anchors are of
  std::vector<Box> anchors_;
};

}  // namespace sact::detect
