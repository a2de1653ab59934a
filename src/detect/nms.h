// Non-maximum suppression: of boxes that overlap much, the one with the best score stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "detect/box.h"

namespace sact::detect {

struct NmsOptions {
  float max_overlap = 0.6f;  // a box is dropped when its overlap with a kept one is above this
  int64_t most_kept = 300;
};

/// Greedy, from the highest score down; of equal scores the one that comes first in the input.
/// A box stays unless intersection > max_overlap * union holds with a box that stays. Returns the
/// numbers of the boxes that stay, in that order. Exact: no grid, no approximation. Boxes whose
/// score is NaN do not stay.
std::vector<int32_t> nms(std::span<const Box> boxes, std::span<const float> scores,
                         const NmsOptions& options = {});

/// The same where boxes of different classes do not drop each other. The order and `most_kept` are
/// over all classes. Classes are numbers from 0.
std::vector<int32_t> nms_by_class(std::span<const Box> boxes, std::span<const float> scores,
                                  std::span<const int32_t> classes, const NmsOptions& options = {});

}  // namespace sact::detect
