// Which boxes are worth a look. Most of an image's proposals hold nothing, and the network that
// classifies boxes is most of a detector's work. Objects of a high score come from boxes to which
// the proposals' layers gave much objectness; how much was measured by `sact calibrate`.
#pragma once

#include <span>
#include <vector>

#include "detect/detections.h"
#include "detect/proposals.h"
#include "model/spec.h"

namespace sact::detect {

/// Boxes of less objectness need no look when only objects of at least `score` are wanted.
/// -infinity where there is no cut for such a low score.
float least_objectness(std::span<const BoxCut> cuts, double score);

/// An object that was reported, and the largest objectness of a box in which it can be found.
struct FoundObject {
  float score = 0, objectness = 0;
};

/// The objects that are reported when all proposals are looked at. An object can also be found in a
/// box that gives its class most of its score (`kSimilarScore`) for nearly the same place, and no
/// less than the scores that there are cuts for up to its own: without the best box, that one is
/// reported.
inline constexpr float kSimilarScore = 0.7f;
std::vector<FoundObject> found_objects(const Proposals& proposals, std::span<const float> outputs,
                                       int classes, Size image, const DetectionOptions& options);

/// Cuts for scores from 0.02 up, each of which loses at most the share `missed` of the objects of
/// at least its score. Scores that fewer than 50 objects have get none.
std::vector<BoxCut> measure_box_cuts(std::span<const FoundObject> found, double missed);

}  // namespace sact::detect
