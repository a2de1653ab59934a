// Products on Hopper's tensor cores; see product_hopper.cuh.
#pragma once

#include "kernels/cuda/inference/kernels.h"

namespace sact::cuda {

/// Whether there is a kernel for a call, whose weights are packed.
bool hopper_can_run(const Product& call);
/// Returns what run() does.
int run_hopper(const Product& call, const Launch& launch);

}  // namespace sact::cuda
