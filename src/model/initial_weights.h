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
  double halting_bias = -3;     // sigmoid(-3): about 21 units at first, so that none is dead
  double halting_scale = 0.01;  // standard deviation of the halting weights with a norm before them
};

/// Convolutions by variance scaling (He), norms scale 1 and shift 0, halting weights small.
/// The norms' moving averages start at what they would be for white input and not at mean 0 and
/// variance 1: the residual stream grows with depth, and so a network that was never trained still
/// gives sensible numbers. Every weight depends only on the seed and its own name.
std::vector<Weight> initial_weights(const ModelSpec& spec, const InitialWeights& options = {});

}  // namespace sact
