#include "halting/halting.h"

#include <algorithm>

#include "base/error.h"

namespace sact {

HaltingOutcome halting_outcome(std::span<const float> scores, double epsilon) {
  const float threshold = halting_threshold(epsilon);
  HaltingOutcome outcome;
  outcome.distribution.assign(scores.size() + 1, 0.0f);
  for (size_t l = 0; l <= scores.size() && outcome.state.active; ++l) {
    const float score = l < scores.size() ? scores[l] : 1.0f;
    outcome.distribution[l] = halting_step(outcome.state, score, threshold);
  }
  return outcome;
}

void average_tiles(Map& scores, int tile) {
  SACT_ASSERT(tile >= 1);
  if (tile == 1) return;
  for (int top = 0; top < scores.height; top += tile) {
    const int bottom = std::min(top + tile, scores.height);
    for (int left = 0; left < scores.width; left += tile) {
      const int right = std::min(left + tile, scores.width);
      float sum = 0;
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) sum += scores.at(y, x);
      }
      const float mean = sum / float((bottom - top) * (right - left));
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) scores.at(y, x) = mean;
      }
    }
  }
}

Map total_ponder_cost(std::span<const Map> blocks) {
  SACT_ASSERT(!blocks.empty());
  Map total = blocks[0];
  for (const Map& block : blocks.subspan(1)) {
    for (int y = 0; y < total.height; ++y) {
      const int source_y = int(int64_t(y) * block.height / total.height);
      for (int x = 0; x < total.width; ++x) {
        total.at(y, x) += block.at(source_y, int(int64_t(x) * block.width / total.width));
      }
    }
  }
  return total;
}

}  // namespace sact
