// Products on tensor cores; see product_hopper.cuh and product_mma.cuh.
#pragma once

#include "kernels/cuda/inference/kernels.h"

namespace sact::cuda {

/// Whether they have a kernel for a call, whose weights are packed.
bool tensor_cores_can_run(const Product& call);

/// On Hopper. Returns what run() does.
int run_hopper(const Product& call, Element type, const Launch& launch);
/// On any GPU since compute capability 8.0; without scores.
void run_mma(const Product& call, Element type, const Launch& launch);

/// What run() of a ProductCeiling does.
double run_hopper_ceiling(const ProductCeiling& call, const Launch& launch);
double run_mma_ceiling(const ProductCeiling& call, const Launch& launch);

namespace tensor {
struct Arguments;
Arguments arguments_of(const Product& call);
}  // namespace tensor

}  // namespace sact::cuda
