// The CUDA engine as a back end, "cuda". Everything that needs CUDA is in libsact_cuda.so, which is
// opened when a network is loaded onto a GPU; so one program serves machines with a GPU and
// without. This header includes nothing of CUDA.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"

namespace sact::engine {

/// What the GPU is, for `sact doctor`.
struct CudaFacts {
  std::string name, capability;
  int64_t memory = 0;
};

/// What the library has.
struct CudaPlugin {
  std::shared_ptr<const LoadedNetwork> (*load)(const NetworkSource& source,
                                               const LoadOptions& options);
  std::shared_ptr<const LoadedDetector> (*load_detector)(const NetworkSource& source,
                                                         const LoadOptions& options);
  /// sact::Error where there is no GPU that can be used.
  CudaFacts (*facts)();
};

/// The one symbol that it exports.
extern "C" const CudaPlugin* sact_cuda_plugin();

/// Whether the library is there, beside this program or libsact.so.
bool has_cuda_component();
/// Opens it. sact::Error where it is not there, cannot be opened or belongs to another build.
const CudaPlugin& cuda_component();

/// A back end without types where the library is not there.
std::unique_ptr<const Backend> make_cuda_backend();

}  // namespace sact::engine
