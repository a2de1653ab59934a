// Products of float32 operands in plain C++.
#include "kernels/cpu/scalar/product.h"

namespace sact::kernels {

std::vector<Part> scalar_f32_parts() {
  return scalar::typed_parts<Float32>();
}

}  // namespace sact::kernels
