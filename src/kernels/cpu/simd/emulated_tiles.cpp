// Products on emulated tiles, of bfloat16 and of whole numbers of 8 bits, for tests: slower than
// anything, and what AMX does.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/emulated_tiles.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"
#include "kernels/cpu/tiles/emulated.h"
#include "kernels/cpu/tiles/row_tiles.h"

#if SACT_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::HWY_NAMESPACE {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/bf16-inl.h"
#include "kernels/cpu/simd/int8-inl.h"
#include "kernels/cpu/simd/tiles-inl.h"

}  // namespace sact::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct EmulatedTilesBf16, HWY_TARGET> {
  static Part part() {
    using namespace HWY_NAMESPACE;
    return {isa_with(isa_of(simd_target()), kEmulatedTilesIsa),
            tile_functions<TilesOfPairs, EmulatedTiles, RoundedBFloat16>()};
  }
};

template <>
struct Compiled<struct EmulatedTilesInt8, HWY_TARGET> {
  static Part part() {
    using namespace HWY_NAMESPACE;
    return {isa_with(isa_of(simd_target()), kEmulatedTilesIsa),
            tile_functions<TilesOfFours, EmulatedTiles, RoundedBytes>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> emulated_tile_parts() {
  std::vector<Part> parts = compiled_parts<EmulatedTilesBf16>();
  for (const Part& part : compiled_parts<EmulatedTilesInt8>()) parts.push_back(part);
  return parts;
}

}  // namespace sact::kernels
#endif
