// The back ends of this project's own engines.
#pragma once

#include "backend/registry.h"

namespace sact::engine {

/// Adds those for the CPU.
void add_backends(BackendRegistry& registry);
/// Adds those for GPUs. Their kernels were tested on an emulation only, so they have to be asked
/// for.
void add_gpu_backends(BackendRegistry& registry);

}  // namespace sact::engine
