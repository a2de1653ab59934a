#include "engine/cpu/tile_weights.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/memory.h"

namespace sact::engine {
namespace {

size_t form_number(int side) {
  const auto found = std::find(kernels::kTileSides.begin(), kernels::kTileSides.end(), side);
  SACT_ASSERT(found != kernels::kTileSides.end());
  return size_t(found - kernels::kTileSides.begin());
}

/// A layer whose weights are under way.
struct Making {
  const kernels::PackedWeights* direct;
  int side;
  void* data;
};

}  // namespace

const kernels::PackedWeights& TileWeights::of(int side) const {
  const Form& form = forms_[form_number(side)];
  SACT_ASSERT(form.weights);
  return *form.weights;
}

void make_tile_weights(std::span<TileWeights* const> layers, std::span<const int> sides,
                       ThreadTeam& team) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<size_t> missing;
  uint64_t bytes = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i]->forms_[form_number(sides[i])].weights) continue;
    missing.push_back(i);
    bytes += uint64_t(kernels::transformed_bytes(layers[i]->direct_, sides[i]));
  }
  if (missing.empty()) return;
  expect_memory(bytes, "the weights for tiles, which exact products do without,");
  std::vector<Arena> arenas;
  std::vector<Making> all;
  for (const size_t i : missing) {
    const kernels::PackedWeights& direct = layers[i]->direct_;
    const int64_t size = kernels::transformed_bytes(direct, sides[i]);
    arenas.emplace_back(size_t(size));
    all.push_back({&direct, sides[i], arenas.back().take<std::byte>(size)});
  }
  const int parts = team.size();
  team.run(parts, [&](int part) {
    for (const Making& making : all) {
      const int64_t panels = making.direct->panels();
      kernels::transform_weights(*making.direct, making.side, int(panels * part / parts),
                                 int(panels * (part + 1) / parts), making.data);
    }
  });
  for (size_t m = 0; m < missing.size(); ++m) {
    TileWeights::Form& form = layers[missing[m]]->forms_[form_number(sides[missing[m]])];
    form.arena = std::move(arenas[m]);
    form.weights = kernels::transformed_weights(*all[m].direct, all[m].side, all[m].data);
  }
}

}  // namespace sact::engine
