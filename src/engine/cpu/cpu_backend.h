// The CPU engine as a back end, "engine".
#pragma once

#include <memory>

#include "backend/backend.h"

namespace sact::engine {

std::unique_ptr<const Backend> make_cpu_backend();

}  // namespace sact::engine
