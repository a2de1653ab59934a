// What reads and writes rows of 32 bits, on Highway.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/rows.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::HWY_NAMESPACE {
#include "kernels/cpu/simd/vectors-inl.h"
//
#include "kernels/cpu/simd/pool-inl.h"
#include "kernels/cpu/simd/scores-inl.h"

}  // namespace sact::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct SimdRows, HWY_TARGET> {
  static Part part() {
    using namespace HWY_NAMESPACE;
    return {isa_of(simd_target()), {}, {scores, sum, maximum}};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> simd_row_parts() {
  return compiled_parts<SimdRows>();
}

}  // namespace sact::kernels
#endif
