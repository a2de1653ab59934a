// Active sets made up for measuring: connected regions, as trained networks have them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/spec.h"

namespace sact::measure {

/// Numbers of units for every position of a batch, [block][row]: in every block the given share of
/// an image's positions, the same region at every resolution, gets all units and the others one.
/// Every image has its own region; all depends on the seed alone.
std::vector<std::vector<int32_t>> units_of_density(const ModelSpec& spec, int images, Size size,
                                                   double density, uint64_t seed);

}  // namespace sact::measure
