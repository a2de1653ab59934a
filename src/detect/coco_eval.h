// The COCO bounding-box metrics, as the reference evaluation (COCOeval of pycocotools with iouType
// "bbox") defines them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detect/coco.h"
#include "io/json.h"

namespace sact::detect {

enum CocoMetric : size_t {
  kAp,        // mean precision over overlaps 0.5, 0.55 ... 0.95 and 101 recalls
  kAp50,      // at overlap 0.5 alone
  kAp75,      // at overlap 0.75 alone
  kApSmall,   // of objects up to 32 x 32
  kApMedium,  // up to 96 x 96
  kApLarge,   // above
  kAr1,       // mean recall with one detection per image and category
  kAr10,      // with ten
  kAr100,     // with a hundred, which all the other metrics allow
  kArSmall,
  kArMedium,
  kArLarge,
  kCocoMetricCount
};

/// Their keys in JSON.
inline constexpr std::array<std::string_view, kCocoMetricCount> kCocoMetricKeys = {
    "AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"};

/// From 0 to 1, and -1 where there are no objects to find.
using CocoMetrics = std::array<double, kCocoMetricCount>;

/// "71.8 %", and "n/a" where there is nothing to find.
std::string metric_text(double metric);

struct CategoryMetrics {
  Category category;
  int64_t objects = 0;  // crowds not counted
  CocoMetrics metrics = {};
};

struct CocoEvaluation {
  CocoMetrics metrics = {};                 // the mean of those of categories that have one
  std::vector<CategoryMetrics> categories;  // by id
};

/// For each category and image the 100 detections of the highest scores count, ties in the order
/// of `results`. At each overlap, from the highest score down, a detection takes the free object it
/// overlaps most: of equal ones the last. Objects outside of an area range (by their `area`) and
/// crowds are not to be found: a detection that finds no other object may take one, a crowd any
/// number may take, and then counts neither as right nor as wrong; nor does one that finds nothing
/// and is itself outside of the range (by the area of its box). The overlap with a crowd is the
/// intersection over the detection's own area.
///
/// Throws sact::Error for a result whose image or category is not in `truth`. An object with id 0
/// counts as not found even where it is, as in the reference; a warning says so. `threads` 0: all.
CocoEvaluation evaluate_coco(const CocoInstances& truth, const CocoResults& results,
                             int threads = 0);

/// The usual twelve lines of text.
std::string coco_summary(const CocoMetrics& metrics);

/// {"AP": ..., ..., "ARl": ..., "per_category": [{"id", "name", "objects", "AP", ...}]}.
io::Json to_json(const CocoEvaluation& evaluation);

}  // namespace sact::detect
