#include "detect/coco_matching.h"

#include <algorithm>

namespace sact::detect {
namespace {

static_assert(kAreas.size() * kThresholds.size() <= 64);

bool is_outside(double area, const AreaRange& range) {
  return area < range.least || area > range.most;
}

struct Truth {
  const CocoObject* object;
  std::array<bool, kAreas.size()> ignored;
  uint64_t taken = 0;  // by an earlier detection, for every area range and threshold
};

struct Candidate {
  Truth* truth;
  double overlap;
};

/// The candidate that a detection takes, or none: the free one of the highest overlap, of equal
/// ones the last. Those that are ignored come second.
const Candidate* best_of(const std::vector<Candidate>& candidates, size_t area, size_t threshold) {
  const uint64_t bit = judgement_bit(area, threshold);
  const Candidate* best = nullptr;
  for (const bool ignored : {false, true}) {
    double least = std::min(kThresholds[threshold], 1 - 1e-10);
    for (const Candidate& candidate : candidates) {
      const Truth& truth = *candidate.truth;
      if (truth.ignored[area] != ignored) continue;
      if ((truth.taken & bit) && !truth.object->crowd) continue;
      if (candidate.overlap < least) continue;
      least = candidate.overlap;
      best = &candidate;
    }
    if (best) break;
  }
  return best;
}

}  // namespace

bool is_ignored(const CocoObject& object, size_t area) {
  return object.crowd || is_outside(object.area, kAreas[area]);
}

double overlap(const CocoBox& detection, const CocoBox& object, bool crowd) {
  const double width = std::min(detection.width + detection.x, object.width + object.x) -
                       std::max(detection.x, object.x);
  if (width <= 0) return 0;
  const double height = std::min(detection.height + detection.y, object.height + object.y) -
                        std::max(detection.y, object.y);
  if (height <= 0) return 0;
  const double common = width * height;
  return common / (crowd ? detection.area() : detection.area() + object.area() - common);
}

void judge(std::span<const CocoObject* const> objects,
           std::span<const CocoResult* const> detections, std::vector<JudgedDetection>& judged) {
  std::vector<Truth> truths;
  for (const CocoObject* object : objects) {
    truths.push_back({object, {}, 0});
    for (size_t area = 0; area < kAreas.size(); ++area) {
      truths.back().ignored[area] = is_ignored(*object, area);
    }
  }
  std::vector<Candidate> candidates;
  for (size_t rank = 0; rank < detections.size(); ++rank) {
    const CocoResult& detection = *detections[rank];
    candidates.clear();
    for (Truth& truth : truths) {
      const double common = overlap(detection.box, truth.object->box, truth.object->crowd);
      if (common >= kThresholds.front()) candidates.push_back({&truth, common});
    }
    JudgedDetection result{.score = detection.score, .rank = uint32_t(rank)};
    for (size_t area = 0; area < kAreas.size(); ++area) {
      const bool outside = is_outside(detection.box.area(), kAreas[area]);
      for (size_t threshold = 0; threshold < kThresholds.size(); ++threshold) {
        const uint64_t bit = judgement_bit(area, threshold);
        const Candidate* best = best_of(candidates, area, threshold);
        if (best) best->truth->taken |= bit;
        // An object with id 0 is taken and yet not found: the reference keeps ids in the matches.
        const bool matched = best && best->truth->object->id != 0;
        if (matched) result.matched |= bit;
        if ((best && best->truth->ignored[area]) || (!matched && outside)) result.ignored |= bit;
      }
    }
    judged.push_back(result);
  }
}

}  // namespace sact::detect
