// Products of bfloat16 operands in plain C++.
#include "kernels/cpu/scalar/product.h"
#include "kernels/cpu/scalar/winograd.h"

namespace sact::kernels {

std::vector<Part> scalar_bf16_parts() {
  std::vector<Part> parts = scalar::typed_parts<BFloat16>();
  parts.front().typed.tiles = scalar::tile_functions<BFloat16>();
  return parts;
}

}  // namespace sact::kernels
