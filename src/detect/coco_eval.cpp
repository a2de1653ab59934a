#include "detect/coco_eval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "detect/coco_matching.h"

namespace sact::detect {
namespace {

struct MetricDefinition {
  bool precision;
  size_t first_threshold, last_threshold;  // both included
  size_t area;
  uint32_t most_detections;
};
constexpr size_t kLast = kThresholds.size() - 1, kAt75 = 5;
static_assert(kThresholds[kAt75] == 0.75);
constexpr std::array<MetricDefinition, kCocoMetricCount> kDefinitions = {{
    {true, 0, kLast, kAllAreas, 100},
    {true, 0, 0, kAllAreas, 100},
    {true, kAt75, kAt75, kAllAreas, 100},
    {true, 0, kLast, kSmall, 100},
    {true, 0, kLast, kMedium, 100},
    {true, 0, kLast, kLarge, 100},
    {false, 0, kLast, kAllAreas, 1},
    {false, 0, kLast, kAllAreas, 10},
    {false, 0, kLast, kAllAreas, 100},
    {false, 0, kLast, kSmall, 100},
    {false, 0, kLast, kMedium, 100},
    {false, 0, kLast, kLarge, 100},
}};

/// Where an object or a detection belongs: its category and image, by the order of their ids.
struct Place {
  uint32_t category, image, index;
};

/// Ids in ascending order; the rank of one is its place there.
class Ranks {
 public:
  template <typename Entry>
  explicit Ranks(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) ids_.push_back(entry.id);
    std::sort(ids_.begin(), ids_.end());
  }
  size_t size() const { return ids_.size(); }
  /// size() where there is none.
  uint32_t of(int64_t id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
    return uint32_t((found != ids_.end() && *found == id ? found : ids_.end()) - ids_.begin());
  }

 private:
  std::vector<int64_t> ids_;
};

/// The places of objects, category by category, image by image, in their own order within.
std::vector<Place> places_of(const std::vector<CocoObject>& objects, const Ranks& images,
                             const Ranks& categories) {
  std::vector<Place> places;
  places.reserve(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    places.push_back(
        {categories.of(objects[i].category_id), images.of(objects[i].image_id), uint32_t(i)});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.category, a.image, a.index) < std::tie(b.category, b.image, b.index);
  });
  return places;
}

/// The same of detections, but from the highest score down within.
std::vector<Place> places_of(const CocoResults& results, const CocoInstances& truth,
                             const Ranks& images, const Ranks& categories) {
  const std::vector<CocoResult>& entries = results.entries;
  std::vector<Place> places;
  places.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const Place place{categories.of(entries[i].category_id), images.of(entries[i].image_id),
                      uint32_t(i)};
    if (place.image == images.size()) {
      fail("{}: [{}]: 'image_id' is {}, but {} has no such image", results.name, i,
           entries[i].image_id, truth.name);
    }
    if (place.category == categories.size()) {
      fail("{}: [{}]: 'category_id' is {}, but {} has no such category", results.name, i,
           entries[i].category_id, truth.name);
    }
    places.push_back(place);
  }
  std::sort(places.begin(), places.end(), [&entries](const Place& a, const Place& b) {
    if (a.category != b.category) return a.category < b.category;
    if (a.image != b.image) return a.image < b.image;
    const double score_a = entries[a.index].score, score_b = entries[b.index].score;
    return score_a != score_b ? score_a > score_b : a.index < b.index;
  });
  return places;
}

using Places = std::span<const Place>;

/// The places at the front that lie in `image`; they are taken off `places`.
Places take_image(Places& places, uint32_t image) {
  size_t count = 0;
  while (count < places.size() && places[count].image == image) ++count;
  const Places front = places.first(count);
  places = places.subspan(count);
  return front;
}

/// All detections of a category by descending score, with what became of them.
std::vector<JudgedDetection> judged(Places objects, Places detections, const CocoInstances& truth,
                                    const CocoResults& results) {
  std::vector<JudgedDetection> all;
  std::vector<const CocoObject*> image_objects;
  std::vector<const CocoResult*> image_results;
  while (!detections.empty()) {
    const uint32_t image = detections.front().image;
    while (!objects.empty() && objects.front().image < image) objects = objects.subspan(1);
    image_objects.clear();
    for (const Place& place : take_image(objects, image)) {
      image_objects.push_back(&truth.objects[place.index]);
    }
    image_results.clear();
    for (const Place& place : take_image(detections, image)) {
      if (image_results.size() < kMostDetections) {
        image_results.push_back(&results.entries[place.index]);
      }
    }
    judge(image_objects, image_results, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const JudgedDetection& a, const JudgedDetection& b) {
    return a.score > b.score;
  });
  return all;
}

/// How precision falls as recall rises, at one overlap and area range.
struct Curve {
  std::vector<double> precisions;  // after each right detection, from the highest score down
  double objects = 0;              // to be found

  double recall() const { return double(precisions.size()) / objects; }

  /// The mean over 101 recalls from 0 to 1 of the best precision at that recall or a higher one.
  double average_precision() {
    for (size_t i = precisions.size(); i-- > 1;) {
      precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
    }
    constexpr int kRecalls = 101;
    double sum = 0;
    size_t right = 0;
    for (int i = 0; i < kRecalls; ++i) {
      const double recall = i == kRecalls - 1 ? 1 : i * 0.01;
      while (right < precisions.size() && double(right + 1) / objects < recall) ++right;
      if (right == precisions.size()) break;
      sum += precisions[right];
    }
    return sum / kRecalls;
  }
};

Curve curve_of(const std::vector<JudgedDetection>& detections, int64_t objects, size_t area,
               size_t threshold, uint32_t most_detections) {
  Curve curve{.precisions = {}, .objects = double(objects)};
  const uint64_t bit = judgement_bit(area, threshold);
  double right = 0, wrong = 0;
  for (const JudgedDetection& detection : detections) {
    if (detection.rank >= most_detections || (detection.ignored & bit)) continue;
    if (!(detection.matched & bit)) {
      ++wrong;
      continue;
    }
    ++right;
    // The reference adds this against a division by zero, and it shows in the last digits.
    constexpr double kLittle = std::numeric_limits<double>::epsilon();
    curve.precisions.push_back(right / (wrong + right + kLittle));
  }
  return curve;
}

double metric_of(const std::vector<JudgedDetection>& detections, int64_t objects,
                 const MetricDefinition& metric) {
  if (objects == 0) return -1;
  double sum = 0;
  for (size_t i = metric.first_threshold; i <= metric.last_threshold; ++i) {
    Curve curve = curve_of(detections, objects, metric.area, i, metric.most_detections);
    sum += metric.precision ? curve.average_precision() : curve.recall();
  }
  return sum / double(metric.last_threshold - metric.first_threshold + 1);
}

CategoryMetrics evaluate_category(const Category& category, Places objects, Places detections,
                                  const CocoInstances& truth, const CocoResults& results) {
  std::array<int64_t, kAreas.size()> counts = {};  // of objects to be found
  for (const Place& place : objects) {
    for (size_t area = 0; area < kAreas.size(); ++area) {
      counts[area] += !is_ignored(truth.objects[place.index], area);
    }
  }
  CategoryMetrics result{.category = category, .objects = 0};
  for (const Place& place : objects) result.objects += !truth.objects[place.index].crowd;
  const std::vector<JudgedDetection> all = judged(objects, detections, truth, results);
  for (size_t i = 0; i < kCocoMetricCount; ++i) {
    result.metrics[i] = metric_of(all, counts[kDefinitions[i].area], kDefinitions[i]);
  }
  return result;
}

/// The places of each category.
std::vector<Places> by_category(const std::vector<Place>& places, size_t categories) {
  std::vector<Places> parts(categories);
  Places rest = places;
  for (size_t i = 0; i < categories; ++i) {
    size_t count = 0;
    while (count < rest.size() && rest[count].category == i) ++count;
    parts[i] = rest.first(count);
    rest = rest.subspan(count);
  }
  return parts;
}

void warn_of_id_zero(const CocoInstances& truth) {
  for (size_t i = 0; i < truth.objects.size(); ++i) {
    if (truth.objects[i].id != 0) continue;
    log_warning(
        "{}: annotations[{}] has the id 0, which the reference evaluation takes for 'not found': "
        "this object counts as missed in any case; number annotations from 1",
        truth.name, i);
  }
}

CocoMetrics mean_of(const std::vector<CategoryMetrics>& categories) {
  CocoMetrics means;
  for (size_t i = 0; i < kCocoMetricCount; ++i) {
    double sum = 0;
    int64_t count = 0;
    for (const CategoryMetrics& category : categories) {
      if (category.metrics[i] < 0) continue;
      sum += category.metrics[i];
      ++count;
    }
    means[i] = count > 0 ? sum / double(count) : -1;
  }
  return means;
}

}  // namespace

CocoEvaluation evaluate_coco(const CocoInstances& truth, const CocoResults& results, int threads) {
  constexpr size_t kMostEntries = std::numeric_limits<uint32_t>::max();
  if (std::max(truth.objects.size(), results.entries.size()) >= kMostEntries) {
    fail("{}: more than {} boxes cannot be evaluated", results.name, kMostEntries);
  }
  warn_of_id_zero(truth);
  const Ranks images(truth.images), ranks(truth.categories);
  const std::vector<Place> objects = places_of(truth.objects, images, ranks);
  const std::vector<Place> detections = places_of(results, truth, images, ranks);
  const auto objects_of = by_category(objects, ranks.size());
  const auto detections_of = by_category(detections, ranks.size());
  std::vector<Category> categories = truth.categories;
  std::sort(categories.begin(), categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });

  CocoEvaluation evaluation;
  evaluation.categories.resize(categories.size());
  run_in_parallel(categories.size(), threads, [&](size_t i) {
    evaluation.categories[i] =
        evaluate_category(categories[i], objects_of[i], detections_of[i], truth, results);
  });
  evaluation.metrics = mean_of(evaluation.categories);
  return evaluation;
}

std::string coco_summary(const CocoMetrics& metrics) {
  constexpr std::array<const char*, kAreas.size()> kAreaNames = {"all", "small", "medium", "large"};
  std::string text;
  for (size_t i = 0; i < kCocoMetricCount; ++i) {
    const MetricDefinition& metric = kDefinitions[i];
    const std::string overlap =
        metric.first_threshold == metric.last_threshold
            ? fmt::format("{:.2f}", kThresholds[metric.first_threshold])
            : fmt::format("{:.2f}:{:.2f}", kThresholds.front(), kThresholds.back());
    text += fmt::format(" {:<18} {} @[ IoU={:<9} | area={:>6} | maxDets={:>3} ] = {:.3f}\n",
                        metric.precision ? "Average Precision" : "Average Recall",
                        metric.precision ? "(AP)" : "(AR)", overlap, kAreaNames[metric.area],
                        metric.most_detections, metrics[i]);
  }
  return text;
}

io::Json to_json(const CocoEvaluation& evaluation) {
  const auto add = [](io::Json& json, const CocoMetrics& metrics) {
    for (size_t i = 0; i < kCocoMetricCount; ++i)
      json[std::string(kCocoMetricKeys[i])] = metrics[i];
  };
  io::Json json;
  add(json, evaluation.metrics);
  io::Json& categories = json["per_category"] = io::Json::array();
  for (const CategoryMetrics& category : evaluation.categories) {
    io::Json entry = {{"category", category.category.name},
                      {"category_id", category.category.id},
                      {"objects", category.objects}};
    add(entry, category.metrics);
    categories.push_back(std::move(entry));
  }
  return json;
}

std::string metric_text(double metric) {
  return metric >= 0 ? fmt::format("{:.1f} %", 100 * metric) : "n/a";
}

}  // namespace sact::detect
