// Which detections of one category in one image find an object: the inner part of the COCO
// evaluation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "detect/coco.h"

namespace sact::detect {

/// Overlaps from which a detection counts as right: ten from 0.5 to 0.95, with the rounding of the
/// reference (0.9 is the number below it).
inline constexpr std::array<double, 10> kThresholds = {
    0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999, 0.95};

struct AreaRange {
  double least, most;  // both included
};
enum Area : size_t { kAllAreas, kSmall, kMedium, kLarge };
inline constexpr std::array<AreaRange, 4> kAreas = {
    {{0, 1e10}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, 1e10}}};

inline constexpr size_t kMostDetections = 100;  // per image and category

/// Whether an object is not to be found when objects of this area range are evaluated.
bool is_ignored(const CocoObject& object, size_t area);

/// Intersection over union, or over the detection's own area where the object is a crowd.
double overlap(const CocoBox& detection, const CocoBox& object, bool crowd);

/// What became of a detection, a bit for every area range and threshold.
struct JudgedDetection {
  double score = 0;
  uint32_t rank = 0;     // among those of its image, from 0
  uint64_t matched = 0;  // it has found an object
  uint64_t ignored = 0;  // it counts neither as right nor as wrong
};
constexpr uint64_t judgement_bit(size_t area, size_t threshold) {
  return uint64_t{1} << (area * kThresholds.size() + threshold);
}

/// Adds the detections, which come by descending score, to `judged`.
void judge(std::span<const CocoObject* const> objects,
           std::span<const CocoResult* const> detections, std::vector<JudgedDetection>& judged);

}  // namespace sact::detect
