// Which of its means the CUDA engine uses: all that the GPU has. To find a fault, or what one of
// them brings, SACT_CUDA_WITHOUT leaves some out: a list such as "hopper,graphs".
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
  bool scores = true;    // halting scores in the products that add a unit's residual

  /// "wgmma", "mma" or "plain".
  const char* products_name() const;
};

/// What `without` leaves of all that the GPU has; sact::Error for words that say nothing.
CudaSettings cuda_settings(const DeviceFacts& device, std::string_view without);
/// As the environment has it.
CudaSettings cuda_settings(const DeviceFacts& device);

}  // namespace sact::engine
