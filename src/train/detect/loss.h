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
  double tau = 0.005;  // of the extractor's ponder cost
  int anchors = 256;   // drawn for the loss of proposals, at most half of them on objects
  int boxes = 64;      // drawn for the loss of the head, at most a quarter of them on objects
};

inline constexpr std::array<const char*, 5> kDetectionLossNames = {"proposal_score", "proposal_box",
                                                                   "class", "box", "ponder"};

struct DetectionLoss {
  torch::Tensor total;  // with gradients
  torch::Tensor parts;  // [5], as kDetectionLossNames; the ponder cost is not yet times tau
};

/// Of one image [1, 3, H, W] with objects in its pixels. `random` draws anchors and boxes.
DetectionLoss detection_loss(DetectorParts& parts, const torch::Tensor& image,
                             std::span<const detect::Object> objects,
                             const DetectionLossOptions& options, const Random& random);

}  // namespace sact::train
