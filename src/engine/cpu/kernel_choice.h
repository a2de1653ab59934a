// Which kernels run a network.
#pragma once

#include <string>

#include "kernels/cpu/kernels.h"

namespace sact::engine {

/// The instruction set that was asked for, otherwise that of the environment variable SACT_ISA,
/// otherwise the fastest.
const kernels::Table& kernel_table(const std::string& asked = {});

}  // namespace sact::engine
