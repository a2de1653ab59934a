// Which of its means the CUDA engine uses: all that the GPU has. To find a fault, or what one of
// them brings, SACT_CUDA_WITHOUT leaves some out: a list such as "hopper,graphs". And how an
// adaptive block is run.
#pragma once

#include <string>
#include <string_view>

#include "engine/cuda/device.h"
#include "kernels/cuda/inference/kernels.h"

namespace sact::engine {

struct CudaSettings {
  cuda::Products products = cuda::Products::kPlain;
  bool overlap = false;  // a kernel is put in place while the one before ends
  bool sharing = true;   // several blocks share the depth of a tile
  bool graphs = true;    // what was started is recorded
  bool tuning = true;    // shapes of tiles are measured before a recording
  bool scores = true;    // halting scores in the products that add a unit's residual
  /// Ways to run an adaptive block; with both it is the one that pays.
  bool lists = true, dense = true;

  /// "wgmma", "mma" or "plain".
  const char* products_name() const;
  /// Whether the units of an adaptive block are evaluated at all positions of this grid, and not at
  /// those in lists.
  bool runs_dense(const cuda::GridShape& grid, int multiprocessors) const;
};

/// What `without` leaves of all that the GPU has; sact::Error for words that say nothing.
CudaSettings cuda_settings(const DeviceFacts& device, std::string_view without);
/// As the environment has it.
CudaSettings cuda_settings(const DeviceFacts& device);

}  // namespace sact::engine
