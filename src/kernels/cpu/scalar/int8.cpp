// Products of whole numbers of 8 bits in plain C++.
#include "kernels/cpu/scalar/product.h"

namespace sact::kernels {

std::vector<Part> scalar_int8_parts() {
  return scalar::typed_parts<Int8>();
}

}  // namespace sact::kernels
