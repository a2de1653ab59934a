#include "detect/nms.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"

namespace sact::detect {
namespace {

/// Boxes that stay, coordinate by coordinate, so that one box is compared with several at a time.
class KeptBoxes {
 public:
  bool any_overlaps(const Box& box, float max_overlap) const {
    constexpr size_t kStep = 32;  // between two looks at the result
    const float own = area(box);
    size_t i = 0;
    for (; i + kStep <= x0_.size(); i += kStep) {
      if (any_overlaps(box, own, max_overlap, i, i + kStep)) return true;
    }
    return any_overlaps(box, own, max_overlap, i, x0_.size());
  }

  void add(const Box& box) {
    x0_.push_back(box.x0);
    y0_.push_back(box.y0);
    x1_.push_back(box.x1);
    y1_.push_back(box.y1);
    area_.push_back(area(box));
  }

 private:
  bool any_overlaps(const Box& box, float own, float max_overlap, size_t first, size_t last) const {
    const float *x0 = x0_.data(), *y0 = y0_.data(), *x1 = x1_.data(), *y1 = y1_.data();
    const float* areas = area_.data();
    int found = 0;  // not a bool and no early exit: so the loop becomes vector instructions
    for (size_t i = first; i < last; ++i) {
      const float width = std::max(std::min(x1[i], box.x1) - std::max(x0[i], box.x0), 0.0f);
      const float height = std::max(std::min(y1[i], box.y1) - std::max(y0[i], box.y0), 0.0f);
      const float common = width * height;
      found |= common > max_overlap * (areas[i] + own - common);
    }
    return found != 0;
  }

  std::vector<float> x0_, y0_, x1_, y1_, area_;
};

/// Numbers of the boxes by descending score and then ascending number, without NaN. Score and
/// number are one integer, so that the order is that of integers and stable by itself.
std::vector<int32_t> by_score(std::span<const float> scores) {
  std::vector<uint64_t> keys;
  keys.reserve(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) continue;
    const auto bits = std::bit_cast<uint32_t>(scores[i] + 0.0f);  // -0 and 0 are equal
    // Negative numbers grow the other way round and come after all others.
    const uint32_t descending = bits >> 31 ? bits : ~bits & 0x7fffffffu;
    keys.push_back(uint64_t(descending) << 32 | i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int32_t> order;
  order.reserve(keys.size());
  for (const uint64_t key : keys) order.push_back(int32_t(uint32_t(key)));
  return order;
}

}  // namespace

std::vector<int32_t> nms_by_class(std::span<const Box> boxes, std::span<const float> scores,
                                  std::span<const int32_t> classes, const NmsOptions& options) {
  SACT_ASSERT(boxes.size() == scores.size());
  SACT_ASSERT(classes.empty() || classes.size() == boxes.size());
  const int32_t last = classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end());
  SACT_ASSERT(last >= 0);
  std::vector<KeptBoxes> kept_boxes(size_t(last) + 1);
  std::vector<int32_t> kept;
  for (const int32_t i : by_score(scores)) {
    if (int64_t(kept.size()) >= options.most_kept) break;
    const int32_t own_class = classes.empty() ? 0 : classes[size_t(i)];
    SACT_ASSERT(own_class >= 0);
    KeptBoxes& rivals = kept_boxes[size_t(own_class)];
    const Box& box = boxes[size_t(i)];
    if (rivals.any_overlaps(box, options.max_overlap)) continue;
    rivals.add(box);
    kept.push_back(i);
  }
  return kept;
}

std::vector<int32_t> nms(std::span<const Box> boxes, std::span<const float> scores,
                         const NmsOptions& options) {
  return nms_by_class(boxes, scores, {}, options);
}

}  // namespace sact::detect
