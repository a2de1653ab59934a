// Products of bfloat16 operands in plain C++.
#include "kernels/cpu/scalar/product.h"

namespace sact::kernels {

std::vector<Part> scalar_bf16_parts() {
  return scalar::typed_parts<BFloat16>();
}

}  // namespace sact::kernels
