#include "detect/box_cuts.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sact::detect {
namespace {

constexpr std::array<double, 9> kScores = {0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9};

/// The largest of them up to a score, or 0.
float score_below(float score) {
  float below = 0;
  for (const double each : kScores) {
    if (float(each) <= score) below = float(each);
  }
  return below;
}

}  // namespace

float least_objectness(std::span<const BoxCut> cuts, double score) {
  float least = -std::numeric_limits<float>::infinity();
  for (const BoxCut& cut : cuts) {
    if (cut.score <= score * (1 + 1e-6)) least = float(cut.objectness);  // 0.05f is not 0.05
  }
  return least;
}

std::vector<FoundObject> found_objects(const Proposals& proposals, std::span<const float> outputs,
                                       int classes, Size image, const DetectionOptions& options) {
  DetectionOptions everything = options;
  everything.least_score *= kSimilarScore;
  everything.max_overlap = 1;  // nothing is suppressed
  everything.most = std::numeric_limits<int>::max();
  const std::vector<Detection> sightings =
      find_detections(proposals.boxes, outputs, classes, image, everything);
  std::vector<FoundObject> found;
  for (const Detection& object :
       find_detections(proposals.boxes, outputs, classes, image, options)) {
    float objectness = proposals.objectness[size_t(object.proposal)];
    const float least_score = std::max(kSimilarScore * object.score, score_below(object.score));
    for (const Detection& sighting : sightings) {
      if (sighting.label == object.label && sighting.score >= least_score &&
          overlap(sighting.box, object.box) >= options.max_overlap) {
        objectness = std::max(objectness, proposals.objectness[size_t(sighting.proposal)]);
      }
    }
    found.push_back({object.score, objectness});
  }
  return found;
}

std::vector<BoxCut> measure_box_cuts(std::span<const FoundObject> found, double missed) {
  constexpr size_t kFewest = 50;
  std::vector<BoxCut> cuts;
  for (const double score : kScores) {
    std::vector<float> of_score;
    for (const FoundObject& object : found) {
      if (double(object.score) >= score) of_score.push_back(object.objectness);
    }
    if (of_score.size() < kFewest) break;
    const auto place = of_score.begin() + ptrdiff_t(missed * double(of_score.size()));
    std::nth_element(of_score.begin(), place, of_score.end());
    const double before = cuts.empty() ? -1e6 : cuts.back().objectness;
    cuts.push_back({score, std::max(double(*place), before)});
  }
  return cuts;
}

}  // namespace sact::detect
