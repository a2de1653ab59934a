// Products of whole numbers of 8 bits by the instruction for them (VNNI), in vectors of 512 and of
// 256 bits: additions to AVX-512 and AVX2, found by the width of a target's vectors and what the
// processor says.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/int8_vnni.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET && HWY_ARCH_X86
#if HWY_MAX_BYTES == 64
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
namespace sact::kernels::avx512_vnni {
#else
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avxvnni")
namespace sact::kernels::avx_vnni {
#endif
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/int8-inl.h"

struct NativeBytes {
  static constexpr bool kNative = true;
  static constexpr int kTallest = kTileRows;

  struct Weights {
    explicit HWY_INLINE Weights(IntegerVector fours) : all(fours) {}
    IntegerVector all;
  };
  struct Fours {
    explicit HWY_INLINE Fours(uint32_t fours) : all(hn::Set(Integers(), int32_t(fours))) {}
    IntegerVector all;
  };
  static HWY_INLINE IntegerVector dot(IntegerVector sums, const Fours& x, const Weights& w) {
#if HWY_MAX_BYTES == 64
    // Not by its intrinsic: all sums of a tile begin as the same zeros, and GCC 12 then keeps most
    // of them in memory.
    asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(x.all.raw), "v"(w.all.raw));
    return sums;
#else
    return IntegerVector{_mm256_dpbusd_avx_epi32(sums.raw, x.all.raw, w.all.raw)};
#endif
  }
};

}  // namespace of the instruction set
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
#if HWY_MAX_BYTES == 64
template <>
struct Compiled<struct Avx512Vnni, HWY_TARGET> {
  static Part part() {
    using namespace avx512_vnni;
    return {isa_with(isa_of(simd_target()), kVnniIsa),
            integer_functions<NativeBytes, RoundedBytes>()};
  }
};
#else
template <>
struct Compiled<struct AvxVnni, HWY_TARGET> {
  static Part part() {
    using namespace avx_vnni;
    return {isa_with(isa_of(simd_target()), kVnni256Isa),
            integer_functions<NativeBytes, RoundedBytes>()};
  }
};
#endif
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> avx512_vnni_parts() {
  if (!has_avx512_vnni()) return {};
  return compiled_parts<struct Avx512Vnni>();
}

std::vector<Part> avx_vnni_parts() {
  if (!has_avx_vnni()) return {};
  return compiled_parts<struct AvxVnni>();
}

}  // namespace sact::kernels
#endif
