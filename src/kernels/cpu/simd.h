// The tables that are built on Highway.
#pragma once

#include <vector>

#include "kernels/cpu/kernels.h"

namespace sact::kernels {

/// Those that this processor can run, the fastest last.
std::vector<const Table*> simd_tables();

}  // namespace sact::kernels
