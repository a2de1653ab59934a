#include "detect/proposals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "detect/box_coding.h"
#include "detect/nms.h"

namespace sact::detect {
namespace {

/// The numbers of the best scores, the best first; of equal ones those that come first.
std::vector<int32_t> best(std::span<const float> scores, int count) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) order.push_back(int32_t(i));
  }
  const auto better = [&](int32_t a, int32_t b) {
    const float of_a = scores[size_t(a)], of_b = scores[size_t(b)];
    return of_a > of_b || (of_a == of_b && a < b);
  };
  const size_t most = std::min(order.size(), size_t(count));
  std::partial_sort(order.begin(), order.begin() + ptrdiff_t(most), order.end(), better);
  order.resize(most);
  return order;
}

}  // namespace

ProposalOptions proposal_options(const DetectionSpec& detection) {
  ProposalOptions options;
  options.kept = detection.proposals;
  options.max_overlap = float(detection.nms_iou);
  return options;
}

Proposals propose(std::span<const Box> anchors, std::span<const float> scores,
                  std::span<const float> codes, Size image, const ProposalOptions& options) {
  SACT_ASSERT(scores.size() == anchors.size() && codes.size() == 4 * anchors.size());
  std::vector<Box> boxes;
  std::vector<float> box_scores;
  for (int32_t index : best(scores, options.considered)) {
    const float* code = codes.data() + 4 * size_t(index);
    const Box box =
        clipped(decode({code[0], code[1], code[2], code[3]}, anchors[size_t(index)]), image);
    // Also drops what is not a number.
    if (!(box.width() >= options.shortest_side && box.height() >= options.shortest_side)) continue;
    boxes.push_back(box);
    box_scores.push_back(scores[size_t(index)]);
  }
  Proposals kept;
  for (int32_t index : nms(boxes, box_scores, {options.max_overlap, options.kept})) {
    kept.boxes.push_back(boxes[size_t(index)]);
    kept.objectness.push_back(box_scores[size_t(index)]);
  }
  return kept;
}

}  // namespace sact::detect
