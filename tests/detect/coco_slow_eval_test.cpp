// The COCO metrics against a slow evaluation that follows the definition in another way: all
// detections of a category in one list, and every number from the whole list.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/random.h"
#include "detect/coco_eval.h"

namespace sact::detect {
namespace {

struct Setting {
  double threshold, least_area, most_area;
  int most_detections;
  bool is_outside(double area) const { return area < least_area || area > most_area; }
};

struct Score {
  double precision = -1, recall = -1;  // -1: nothing to find
};

double slow_overlap(const CocoBox& a, const CocoObject& object) {
  const CocoBox& b = object.box;
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  return object.crowd ? both / a.area() : both / (a.area() + b.area() - both);
}

/// The detections of a category from the highest score down, each with its rank in its image.
std::vector<std::pair<CocoResult, int>> ranked(const CocoResults& results, int64_t category) {
  std::vector<CocoResult> all;
  for (const CocoResult& result : results.entries) {
    if (result.category_id == category) all.push_back(result);
  }
  std::stable_sort(all.begin(), all.end(), [](const CocoResult& a, const CocoResult& b) {
    return a.score != b.score ? a.score > b.score : a.image_id < b.image_id;
  });
  std::map<int64_t, int> seen;
  std::vector<std::pair<CocoResult, int>> list;
  for (const CocoResult& result : all) list.emplace_back(result, seen[result.image_id]++);
  return list;
}

Score slow_score(const CocoInstances& truth, const CocoResults& results, int64_t category,
                 const Setting& setting) {
  const auto ignored = [&](const CocoObject& o) { return o.crowd || setting.is_outside(o.area); };
  const int64_t to_find =
      std::count_if(truth.objects.begin(), truth.objects.end(),
                    [&](const CocoObject& o) { return o.category_id == category && !ignored(o); });
  if (to_find == 0) return {};
  std::set<int64_t> taken;
  std::vector<double> recalls, precisions;
  double right = 0, wrong = 0;
  for (const auto& [detection, rank] : ranked(results, category)) {
    if (rank >= 100) continue;
    const CocoObject* best = nullptr;
    double best_overlap = 0;
    for (const CocoObject& object : truth.objects) {
      if (object.image_id != detection.image_id || object.category_id != category) continue;
      if (taken.contains(object.id) && !object.crowd) continue;
      const double common = slow_overlap(detection.box, object);
      if (common < std::min(setting.threshold, 1 - 1e-10)) continue;
      const bool better = !best || (ignored(*best) && !ignored(object)) ||
                          (ignored(*best) == ignored(object) && common >= best_overlap);
      if (!better) continue;
      best = &object;
      best_overlap = common;
    }
    if (best) taken.insert(best->id);
    if (rank >= setting.most_detections) continue;
    if (best ? ignored(*best) : setting.is_outside(detection.box.area())) continue;
    (best ? right : wrong) += 1;
    recalls.push_back(right / double(to_find));
    precisions.push_back(right / (right + wrong));
  }
  Score score{0, recalls.empty() ? 0 : recalls.back()};
  for (int i = 0; i <= 100; ++i) {
    double highest = 0;
    for (size_t k = 0; k < recalls.size(); ++k) {
      if (recalls[k] >= i * 0.01) highest = std::max(highest, precisions[k]);
    }
    score.precision += highest / 101;
  }
  return score;
}

/// Means over categories and overlaps of the scores that are not -1.
Score slow_mean(const CocoInstances& truth, const CocoResults& results,
                const std::vector<double>& thresholds, Setting setting) {
  Score sum{0, 0};
  int count = 0;
  for (const Category& category : truth.categories) {
    for (const double threshold : thresholds) {
      setting.threshold = threshold;
      const Score score = slow_score(truth, results, category.id, setting);
      if (score.recall < 0) continue;
      sum.precision += score.precision;
      sum.recall += score.recall;
      ++count;
    }
  }
  if (count == 0) return {};
  return {sum.precision / count, sum.recall / count};
}

CocoMetrics slow_metrics(const CocoInstances& truth, const CocoResults& results) {
  const std::vector<double> all = {0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999,
                                   0.95};
  const auto mean = [&](const std::vector<double>& thresholds, double least, double most,
                        int most_detections) {
    return slow_mean(truth, results, thresholds, {0, least, most, most_detections});
  };
  const Score any = mean(all, 0, 1e10, 100), small = mean(all, 0, 1024, 100),
              medium = mean(all, 1024, 9216, 100), large = mean(all, 9216, 1e10, 100);
  return {any.precision,
          mean({0.5}, 0, 1e10, 100).precision,
          mean({0.75}, 0, 1e10, 100).precision,
          small.precision,
          medium.precision,
          large.precision,
          mean(all, 0, 1e10, 1).recall,
          mean(all, 0, 1e10, 10).recall,
          any.recall,
          small.recall,
          medium.recall,
          large.recall};
}

/// Whole numbers for coordinates and few scores, so that overlaps and scores are often equal.
CocoBox random_box(Random& random) {
  const double side = std::array{8.0, 24.0, 32.0, 60.0, 96.0, 150.0}[size_t(random.below(6))];
  return {double(random.below(60)), double(random.below(60)), side + double(random.below(5)),
          side + double(random.below(5))};
}

void fill_at_random(Random& random, CocoInstances& truth, CocoResults& results,
                    int64_t most_objects = 9) {
  for (int64_t i = 1; i <= 1 + random.below(3); ++i) truth.categories.push_back({10 - i, "c"});
  for (int64_t i = 0; i <= random.below(5); ++i) truth.images.push_back({100 - 7 * i});
  const int64_t most = random.coin(0.2) ? 300 : 25;
  for (const CocoImage& image : truth.images) {
    const auto category = [&] {
      return truth.categories[size_t(random.below(int64_t(truth.categories.size())))].id;
    };
    for (int64_t i = random.below(most_objects); i > 0; --i) {
      const CocoBox box = random_box(random);
      const double area = random.coin() ? box.area() : double(random.below(3)) * 1024;
      truth.objects.push_back(
          {int64_t(truth.objects.size()) + 1, image.id, category(), box, area, random.coin(0.15)});
    }
    for (int64_t i = random.below(most); i > 0; --i) {
      CocoResult result{image.id, category(), random_box(random), double(random.below(20)) / 20};
      if (!truth.objects.empty() && random.coin()) {
        const CocoObject& object =
            truth.objects[size_t(random.below(int64_t(truth.objects.size())))];
        result.category_id = object.category_id;
        result.box = object.box;
        result.box.x += double(random.below(7));
      }
      results.entries.push_back(result);
    }
  }
}

/// With up to `most_objects` in an image; how many of the scenes have detections that are right.
int compare_with_slow(int64_t most_objects, uint64_t seeds) {
  int with_objects = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    CocoInstances truth{.name = "gt"};
    CocoResults results{.name = "dt"};
    fill_at_random(random, truth, results, most_objects);
    const CocoMetrics slow = slow_metrics(truth, results);
    for (const int threads : {1, 3}) {
      const CocoMetrics fast = evaluate_coco(truth, results, threads).metrics;
      for (size_t i = 0; i < kCocoMetricCount; ++i) {
        EXPECT_NEAR(fast[i], slow[i], 1e-12) << kCocoMetricKeys[i] << ", seed " << seed;
      }
    }
    with_objects += slow[kAp] > 0.01;
  }
  return with_objects;
}

TEST(CocoEval, EqualsASlowEvaluationOnRandomBoxes) {
  EXPECT_GT(compare_with_slow(9, 60), 40);
}

/// More objects than detections at nearly the same place, so that most of them are never looked at
/// twice.
TEST(CocoEval, EqualsASlowEvaluationWhereObjectsAreHeaped) {
  EXPECT_GT(compare_with_slow(400, 15), 10);
}

}  // namespace
}  // namespace sact::detect
