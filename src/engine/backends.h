// The back ends of this project's own engines.
#pragma once

#include "backend/registry.h"

namespace sact::engine {

/// Adds them, those of the first choice first. A new engine is one more line here.
void add_backends(BackendRegistry& registry);

}  // namespace sact::engine
