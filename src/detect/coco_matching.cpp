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

  /// Whether a detection takes it first: the one of the higher overlap, of equal ones the last.
  bool precedes(const Candidate& other) const {
    return overlap != other.overlap ? overlap > other.overlap : truth > other.truth;
  }
};

/// The objects that a detection may take. Of those that are ignored in the same area ranges a few
/// of the highest overlap suffice, because all others can only be taken when these are: so a
/// million objects at one place cost no more than looking at each.
class Candidates {
 public:
  void clear() {
    for (std::vector<Candidate>& group : groups_) group.clear();
    best_.clear();
  }
  void add(const Candidate& candidate) { groups_[group_of(*candidate.truth)].push_back(candidate); }

  /// All that matter when at most `taken` of the objects are no longer free.
  const std::vector<Candidate>& best(size_t taken) {
    for (std::vector<Candidate>& group : groups_) {
      if (group.size() > taken + 1) {
        std::nth_element(group.begin(), group.begin() + ptrdiff_t(taken), group.end(),
                         [](const Candidate& a, const Candidate& b) { return a.precedes(b); });
        group.resize(taken + 1);
      }
      best_.insert(best_.end(), group.begin(), group.end());
    }
    return best_;
  }

 private:
  static size_t group_of(const Truth& truth) {
    size_t group = 0;
    for (size_t area = 0; area < kAreas.size(); ++area) {
      group |= size_t(truth.ignored[area]) << area;
    }
    return group;
  }
  std::array<std::vector<Candidate>, size_t(1) << kAreas.size()> groups_;
  std::vector<Candidate> best_;
};

/// The candidate that a detection takes, or none: the free one that precedes all others. Those that
/// are ignored come second.
const Candidate* best_of(const std::vector<Candidate>& candidates, size_t area, size_t threshold) {
  const uint64_t bit = judgement_bit(area, threshold);
  const Candidate* best = nullptr;
  for (const bool ignored : {false, true}) {
    const double least = std::min(kThresholds[threshold], 1 - 1e-10);
    for (const Candidate& candidate : candidates) {
      const Truth& truth = *candidate.truth;
      if (truth.ignored[area] != ignored) continue;
      if ((truth.taken & bit) && !truth.object->crowd) continue;
      if (candidate.overlap < least) continue;
      if (!best || candidate.precedes(*best)) best = &candidate;
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
  Candidates candidates;
  for (size_t rank = 0; rank < detections.size(); ++rank) {
    const CocoResult& detection = *detections[rank];
    candidates.clear();
    for (Truth& truth : truths) {
      const double common = overlap(detection.box, truth.object->box, truth.object->crowd);
      if (common >= kThresholds.front()) candidates.add({&truth, common});
    }
    // Each detection before took at most one object for a threshold and an area range.
    const std::vector<Candidate>& best_candidates = candidates.best(rank);
    JudgedDetection result{.score = detection.score, .rank = uint32_t(rank)};
    for (size_t area = 0; area < kAreas.size(); ++area) {
      const bool outside = is_outside(detection.box.area(), kAreas[area]);
      for (size_t threshold = 0; threshold < kThresholds.size(); ++threshold) {
        const uint64_t bit = judgement_bit(area, threshold);
        const Candidate* best = best_of(best_candidates, area, threshold);
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
