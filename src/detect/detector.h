// Finds the objects of images on any back end: the extractor on the scaled image, proposals in its
// features, and the last block and head on what these have inside the proposals.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "detect/detections.h"
#include "io/pixel_view.h"
#include "sact/detector.h"

namespace sact::detect {

/// What the networks say of an image. Boxes are in pixels of the scaled image.
struct DetectorOutputs {
  Size image;             // as it was scaled
  ImageResult extractor;  // maps of its blocks, FLOPs
  AnchorOutputs anchors;
  std::vector<Box> proposals;  // the best first
  BoxOutputs boxes;            // of the proposals
  DetectorTimes ms;
};

struct DetectedImage {
  std::vector<Detection> detections;  // in pixels of the image that was given
  Size scaled;
  ImageResult extractor;
  int64_t dense_flops = 0;  // of the extractor, at that size
  int64_t box_flops = 0, dense_box_flops = 0;
  int proposals = 0;
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

  /// The extractor alone on a whole image, its shorter side scaled to `side`.
  struct Extracted {
    ImageResult result;
    Size scaled;
  };
  Extracted extract(const io::PixelView& image, int side);

  /// The same before its last stage, for one prepared image.
  DetectorOutputs run(const InputView& image);

  const ModelSpec& spec() const { return spec_; }
  DetectorSession& session() { return *session_; }

 private:
  std::span<const Box> anchors_of(Size grid);

  ModelSpec spec_, extractor_spec_, box_spec_;
  std::unique_ptr<DetectorSession> session_;
  Size grid_;  // that the anchors are of
  std::vector<Box> anchors_;
};

}  // namespace sact::detect
