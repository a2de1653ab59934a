// Convolutions over tiles in plain C++.
#pragma once

#include "kernels/cpu/winograd.h"

namespace sact::kernels::scalar {

/// Float32 or BFloat16.
template <typename Type>
TileFunctions tile_functions();

}  // namespace sact::kernels::scalar
