#include "detect/targets.h"

#include <algorithm>

#include "base/sample.h"

namespace sact::detect {
namespace {

bool in_crowd(const Box& box, std::span<const Object> objects) {
  return std::any_of(objects.begin(), objects.end(), [&](const Object& object) {
    return object.crowd && intersection(box, object.box) >= 0.5f * area(box);
  });
}

}  // namespace

std::vector<int32_t> match(std::span<const Box> boxes, std::span<const Object> objects,
                           const MatchOptions& options) {
  std::vector<int32_t> matches(boxes.size(), kBackground);
  std::vector<float> best_of_object(objects.size(), 0.0f);
  std::vector<float> overlaps(boxes.size() * objects.size(), 0.0f);
  for (size_t i = 0; i < boxes.size(); ++i) {
    float best = 0;
    for (size_t o = 0; o < objects.size(); ++o) {
      if (objects[o].crowd) continue;
      const float share = overlap(boxes[i], objects[o].box);
      overlaps[i * objects.size() + o] = share;
      best_of_object[o] = std::max(best_of_object[o], share);
      if (share <= best) continue;
      best = share;
      matches[i] = int32_t(o);
    }
    if (best >= options.object_overlap) continue;
    matches[i] = best < options.background_overlap ? kBackground : kIgnored;
    if (matches[i] == kBackground && in_crowd(boxes[i], objects)) matches[i] = kIgnored;
  }
  if (!options.every_object) return matches;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t o = 0; o < objects.size(); ++o) {
      const float share = overlaps[i * objects.size() + o];
      if (share > 0 && share == best_of_object[o]) matches[i] = int32_t(o);
    }
  }
  return matches;
}

BoxSample draw_sample(std::span<const int32_t> matches, int count, double object_share,
                      Random random) {
  std::vector<int64_t> objects, background;
  for (size_t i = 0; i < matches.size(); ++i) {
    if (matches[i] >= 0) objects.push_back(int64_t(i));
    if (matches[i] == kBackground) background.push_back(int64_t(i));
  }
  BoxSample sample;
  keep_sample(objects, size_t(object_share * count), random);
  keep_sample(background, size_t(count) - objects.size(), random);
  sample.objects = int64_t(objects.size());
  sample.chosen = std::move(objects);
  sample.chosen.insert(sample.chosen.end(), background.begin(), background.end());
  return sample;
}

}  // namespace sact::detect
