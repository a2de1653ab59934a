#include "engine/backends.h"

#include "engine/cpu/cpu_backend.h"

namespace sact::engine {

void add_backends(BackendRegistry& registry) {
  registry.add(make_cpu_backend());
}

}  // namespace sact::engine
