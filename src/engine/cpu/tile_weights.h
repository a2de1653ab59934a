// The weights of a 3x3 convolution for tiles, made when a run first asks for them: not every size
// of images wants them, and they take two to four times the bytes of the direct ones.
#pragma once

#include <array>
#include <mutex>
#include <optional>

#include "base/arena.h"
#include "base/thread_team.h"
#include "kernels/cpu/winograd.h"

namespace sact::engine {

/// Any number of sessions may ask at the same time.
class TileWeights {
 public:
  /// `direct` must outlive it.
  explicit TileWeights(const kernels::PackedWeights& direct) : direct_(direct) {}

  /// Those for tiles of this side, with the threads of a team where they are not made yet. The
  /// reference stays good. sact::Error when there is no memory for them.
  const kernels::PackedWeights& of(int side, ThreadTeam& team);

 private:
  struct Form {
    Arena arena{0};
    std::optional<kernels::PackedWeights> weights;
  };
  const kernels::PackedWeights direct_;
  std::mutex mutex_;
  std::array<Form, kernels::kTileSides.size()> forms_;
};

}  // namespace sact::engine
