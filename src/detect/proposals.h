// From the scores and codes of anchors to the boxes that are looked at more closely.
#pragma once

#include <span>
#include <vector>

#include "base/size.h"
#include "detect/box.h"
#include "model/spec.h"

namespace sact::detect {

struct ProposalOptions {
  int considered = 6000;  // anchors of the best scores
  int kept = 300;
  float max_overlap = 0.6f;
  float shortest_side = 1;  // pixels
};

/// Those of a detector.
ProposalOptions proposal_options(const DetectionSpec& detection);

struct Proposals {
  std::vector<Box> boxes;         // inside the image, the best first
  std::vector<float> objectness;  // of each, as the network gave it
};

/// `scores` has one number for each anchor and `codes` four; both are what the network gave.
Proposals propose(std::span<const Box> anchors, std::span<const float> scores,
                  std::span<const float> codes, Size image, const ProposalOptions& options = {});

}  // namespace sact::detect
