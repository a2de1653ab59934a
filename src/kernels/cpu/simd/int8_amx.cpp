// Products of whole numbers of 8 bits on the tiles of AMX, an addition to AVX-512 found by what the
// processor does.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/int8_amx.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"
#include "kernels/cpu/tiles/hardware.h"
#include "kernels/cpu/tiles/row_tiles.h"

#if SACT_SIMD_TARGET && HWY_ARCH_X86_64 && HWY_MAX_BYTES == 64
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::amx_int8 {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/tiles-inl.h"

/// By the instruction that narrows to 8 bits; see Int8::element().
struct NarrowedBytes : Int8 {
  static HWY_INLINE void store(Vector value, uint8_t* to) {
    // In this order what is not a number becomes 0. What is too large stays so.
    const __m512 positive = _mm512_max_ps(value.raw, _mm512_setzero_ps());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(positive)));
  }
};

}  // namespace sact::kernels::amx_int8
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct AmxInt8, HWY_TARGET> {
  static Part part() {
    using namespace amx_int8;
    return {isa_with(isa_of(simd_target()), kAmxIsa),
            tile_functions<TilesOfFours, HardwareTiles, NarrowedBytes>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> amx_int8_parts() {
  if (!has_int8_tiles()) return {};
  return compiled_parts<struct AmxInt8>();
}

}  // namespace sact::kernels
#endif
