// Products of float32 operands in plain C++.
#include "kernels/cpu/scalar/product.h"
#include "kernels/cpu/scalar/winograd.h"

namespace sact::kernels {

std::vector<Part> scalar_f32_parts() {
  std::vector<Part> parts = scalar::typed_parts<Float32>();
  parts.front().typed.tiles = scalar::tile_functions<Float32>();
  return parts;
}

}  // namespace sact::kernels
