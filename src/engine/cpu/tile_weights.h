// The weights of a 3x3 convolution for tiles, made when a run first asks for them: not every size
// of images wants them, and they take two to four times the bytes of the direct ones.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "base/arena.h"
#include "base/thread_team.h"
#include "kernels/cpu/winograd.h"

namespace sact::engine {

class TileWeights {
 public:
  /// `direct` must outlive it.
  explicit TileWeights(const kernels::PackedWeights& direct) : direct_(direct) {}

  /// Those for tiles of this side, which the same thread has asked make_tile_weights() for.
  const kernels::PackedWeights& of(int side) const;

 private:
  struct Form {
    Arena arena{0};
    std::optional<kernels::PackedWeights> weights;
  };
  friend void make_tile_weights(std::span<TileWeights* const>, std::span<const int>, ThreadTeam&);

  const kernels::PackedWeights direct_;
  std::array<Form, kernels::kTileSides.size()> forms_;
};

/// Makes the weights of some layers for tiles of these sides, one for each layer, where they are
/// not made yet: in one job of a team, because on a busy machine each may wait for its threads. Any
/// number of sessions may ask at the same time. sact::Error when there is no memory for them.
void make_tile_weights(std::span<TileWeights* const> layers, std::span<const int> sides,
                       ThreadTeam& team);

}  // namespace sact::engine
