// Products of bfloat16 operands on the tiles of AMX, an addition to AVX-512 found by what the
// processor does; and the same on emulated tiles, which it must equal to the last bit.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/bf16_amx.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"
#include "kernels/cpu/tiles/emulated.h"
#include "kernels/cpu/tiles/hardware.h"
#include "kernels/cpu/tiles/row_tiles.h"

#if SACT_SIMD_TARGET && HWY_ARCH_X86_64 && HWY_MAX_BYTES == 64
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace sact::kernels::amx_bf16 {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/bf16_stored-inl.h"
#include "kernels/cpu/simd/tiles-inl.h"

}  // namespace sact::kernels::amx_bf16
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct AmxBf16, HWY_TARGET> {
  static Part part() {
    using namespace amx_bf16;
    return {isa_with(isa_of(simd_target()), kAmxIsa),
            tile_functions<TilesOfPairs, HardwareTiles, ConvertedBFloat16>()};
  }
};
template <>
struct Compiled<struct EmulatedAmxBf16, HWY_TARGET> {
  static Part part() {
    using namespace amx_bf16;
    return {isa_with(isa_of(simd_target()), kEmulatedTilesIsa),
            tile_functions<TilesOfPairs, EmulatedTiles, ConvertedBFloat16>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> amx_bf16_parts() {
  if (!has_bf16_tiles() || !has_avx512_bf16()) return {};
  return compiled_parts<AmxBf16>();
}

std::vector<Part> emulated_amx_bf16_parts() {
  if (!has_avx512_bf16()) return {};
  return compiled_parts<EmulatedAmxBf16>();
}

}  // namespace sact::kernels
#endif
