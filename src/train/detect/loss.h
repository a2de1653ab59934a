// What a detector in training is punished for.
#pragma once

#include <array>
#include <span>

#include "base/random.h"
#include "detect/targets.h"
#include "train/torch/detector_parts.h"
#include "train/torch/libtorch.h"

namespace sact::train {

struct DetectionLossOptions {
  /// Scalars: weights of the ponder costs of the extractor and of the head; undefined: 0.
  torch::Tensor tau, head_tau;
  int anchors = 256;  // of an image, drawn for the loss of proposals, at most half on objects
  int boxes = 64;     // likewise for the loss of the head, at most a quarter on objects
  int threads = 1;    // that assign boxes to objects
};

inline constexpr std::array<const char*, 6> kDetectionLossNames = {
    "proposal_score", "proposal_box", "class", "box", "ponder", "head_ponder"};
/// What a step tells beside its losses: shares of the dense FLOPs in training, and the weights of
/// ponder costs.
inline constexpr std::array<const char*, 4> kDetectionWorkNames = {"share", "head_share", "tau",
                                                                   "head_tau"};

/// Means over the images.
struct DetectionLoss {
  torch::Tensor total;  // with gradients
  torch::Tensor parts;  // [6], as kDetectionLossNames; ponder costs are not yet times tau
  torch::Tensor share, head_share;  // of the dense FLOPs of extractor and head
};

/// What is to be learned of an image.
struct ImageTruth {
  Size size;                                // of the image, without padding
  std::span<const detect::Object> objects;  // in its pixels
  Random random;                            // draws anchors and boxes
};

/// Of a batch of images [B, 3, H, W], each in the first rows and columns of its own size. Every
/// image has the loss that it has alone. Waits for the device once.
DetectionLoss detection_loss(DetectorParts& parts, const torch::Tensor& images,
                             std::span<const ImageTruth> truth,
                             const DetectionLossOptions& options);

}  // namespace sact::train
