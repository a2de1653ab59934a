// Convolutions over tiles in plain C++.
#pragma once

#include "kernels/cpu/winograd.h"

namespace sact::kernels::scalar {

TileFunctions tile_functions();

}  // namespace sact::kernels::scalar
