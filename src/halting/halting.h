// The halting rule of Adaptive Computation Time: the loop bodies of Algorithms 1 and 2 of the
// paper. It exists here once. The CPU engine, the CUDA kernels and the tests call it; the
// differentiable LibTorch form is tested against it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sact/types.h"

namespace sact {

/// What one position of a block (SACT), or a whole image (ACT), has accumulated so far.
struct HaltingState {
  float cumulative = 0;   // c: sum of halting scores
  float remainder = 1;    // R
  float ponder_cost = 0;  // rho
  int32_t units = 0;      // N once halted: units evaluated
  bool active = true;     // a
};

/// A position stays active while its cumulative score is below this.
constexpr float halting_threshold(double epsilon) {
  return float(1.0 - epsilon);
}

/// Takes the score h of the unit just evaluated at an active position (1 for the last unit of a
/// block) and returns the weight of that unit's output: h, or the remainder where the position
/// halts. (constexpr makes it callable in CUDA kernels.)
constexpr float halting_step(HaltingState& state, float score, float threshold) {
  state.cumulative += score;
  state.ponder_cost += 1;
  state.units += 1;
  if (state.cumulative < threshold) {
    state.remainder -= score;
    return score;
  }
  state.ponder_cost += state.remainder;
  state.active = false;
  return state.remainder;
}

/// The score h = max(0, (s - floor) / (1 - floor)) of a sigmoid s. With floor 0, the paper's rule,
/// it is s to the last bit. With another, scores can be 0: a position all of whose scores are 0
/// goes through the whole block, and its output is exactly its last state.
constexpr float halting_score(float sigmoid, float floor) {
  const float score = (sigmoid - floor) / (1 - floor);
  return score < 0 ? 0.0f : score;  // NaN stays NaN
}

/// dh/dz where h is the score of the sigmoid s of z, for a gradient dL/dh. Near 0 and 1 the
/// sigmoid's slope vanishes, and what has gone there could not come back: a gradient that pulls s
/// back to the middle finds a slope of `slope_floor` at least. One that pushes on finds the slope
/// as it is, and so does any with slope_floor 0. The floor under the score is passed straight
/// through: below it a score is 0, but its gradient reaches z as if it were not cut off.
constexpr float halting_slope(float sigmoid, float gradient, float slope_floor,
                              float score_floor = 0) {
  const float slope = sigmoid * (1 - sigmoid);
  const bool pulls_back = sigmoid < 0.5f ? gradient < 0 : gradient > 0;
  return (pulls_back && slope < slope_floor ? slope_floor : slope) / (1 - score_floor);
}

/// The outcome for one position given the scores of units 1 ... L-1.
struct HaltingOutcome {
  HaltingState state;
  std::vector<float> distribution;  // p of all L units; sums to 1
};

HaltingOutcome halting_outcome(std::span<const float> scores, double epsilon);

/// Replaces every score by the mean over its tile of `tile` x `tile` positions; tiles at the right
/// and bottom edge may be partial and average the positions they have.
void average_tiles(Map& scores, int tile);

/// Sum of the blocks' ponder cost maps, each enlarged by nearest neighbour to the resolution of the
/// first block: the ponder cost map of an image.
Map total_ponder_cost(std::span<const Map> blocks);

}  // namespace sact
