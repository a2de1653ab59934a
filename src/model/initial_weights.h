// Fresh random weights for a network.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model_file.h"
#include "model/spec.h"

namespace sact {

struct InitialWeights {
  uint64_t seed = 0;
  /// Of every unit's residual: times He's deviation for its last convolution, or where a norm comes
  /// after that (post-activation) the scale of the norm.
  double residual_scale = 1;
  double halting_bias = -3;  // sigmoid(-3): about 21 units at first, so that none is dead
  /// If not 0: scores of a block of L units start at 1 / (reach L) instead, so that they add up to
  /// one after that share of its units, and shorter blocks start with a higher bias.
  double halting_reach = 0;
  double halting_scale = 0.01;  // standard deviation of the halting weights with a norm before them
};

/// Convolutions by variance scaling (He), norms scale 1 and shift 0, halting weights small.
/// The norms' moving averages start at what they would be for white input and not at mean 0 and
/// variance 1: the residual stream grows with depth, and so a network that was never trained still
/// gives sensible numbers. Every weight depends only on the seed and its own name.
std::vector<Weight> initial_weights(const ModelSpec& spec, const InitialWeights& options = {});

}  // namespace sact
