#include "engine/cpu/tile_weights.h"

#include <algorithm>

#include "base/memory.h"

namespace sact::engine {

const kernels::PackedWeights& TileWeights::of(int side, ThreadTeam& team) {
  const auto number = std::find(kernels::kTileSides.begin(), kernels::kTileSides.end(), side);
  Form& form = forms_.at(size_t(number - kernels::kTileSides.begin()));
  const std::lock_guard lock(mutex_);
  if (form.weights) return *form.weights;
  const int64_t size = kernels::transformed_size(direct_, side);
  expect_memory(uint64_t(size) * sizeof(float),
                "the weights for tiles, which --exact does without,");
  Arena arena{size_t(size) * sizeof(float)};
  float* data = arena.take<float>(size);
  team.share(direct_.panels(), 1, [&](int64_t first, int64_t last) {
    kernels::transform_weights(direct_, side, int(first), int(last), data);
  });
  form.arena = std::move(arena);
  form.weights = kernels::transformed_weights(direct_, side, data);
  return *form.weights;
}

}  // namespace sact::engine
