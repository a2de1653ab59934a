#include "engine/backends.h"

#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/component.h"

namespace sact::engine {

void add_backends(BackendRegistry& registry) {
  registry.add(make_cpu_backend());
}

void add_gpu_backends(BackendRegistry& registry) {
  registry.add_on_request(make_cuda_backend());
}

}  // namespace sact::engine
