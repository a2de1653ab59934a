// Products of whole numbers of 8 bits on Highway, without instructions for them: worked out in 16
// bits, in which products have room, because the usual instruction for 8 bits cuts off sums of two.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/int8.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::HWY_NAMESPACE {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/int8-inl.h"

#if HWY_ARCH_X86
/// Sums of two neighbouring products of 16 bits.
HWY_INLINE IntegerVector products_of_pairs(IntegerVector a, IntegerVector b) {
#if HWY_MAX_BYTES == 64
  return IntegerVector{_mm512_madd_epi16(a.raw, b.raw)};
#else
  return IntegerVector{_mm256_madd_epi16(a.raw, b.raw)};
#endif
}

/// The even and the odd of four depths, each as two numbers of 16 bits.
struct WidenedBytes {
  static constexpr bool kNative = true;
  // Weights and rows take two registers each.
  static constexpr int kTallest = kRegisters == 32 ? 12 : 4;

  struct Weights {
    explicit HWY_INLINE Weights(IntegerVector fours) {
      const hn::ScalableTag<int16_t> halves;
      const Integers d;
      const auto pairs = hn::BitCast(halves, fours);
      even = hn::BitCast(d, hn::ShiftRight<8>(hn::ShiftLeft<8>(pairs)));
      odd = hn::BitCast(d, hn::ShiftRight<8>(pairs));
    }
    IntegerVector even, odd;
  };
  struct Fours {
    explicit HWY_INLINE Fours(uint32_t fours)
        : even(hn::Set(Integers(), int32_t(fours & 0xff00ffu))),
          odd(hn::Set(Integers(), int32_t(fours >> 8 & 0xff00ffu))) {}
    IntegerVector even, odd;
  };
  static HWY_INLINE IntegerVector dot(IntegerVector sums, const Fours& x, const Weights& w) {
    return hn::Add(hn::Add(sums, products_of_pairs(x.even, w.even)),
                   products_of_pairs(x.odd, w.odd));
  }
};
#else
/// Each of four depths in 32 bits.
struct WidenedBytes {
  static constexpr bool kNative = false;
  static constexpr int kTallest = kRegisters == 32 ? 6 : 2;

  struct Weights {
    explicit HWY_INLINE Weights(IntegerVector fours)
        : part{hn::ShiftRight<24>(hn::ShiftLeft<24>(fours)),
               hn::ShiftRight<24>(hn::ShiftLeft<16>(fours)),
               hn::ShiftRight<24>(hn::ShiftLeft<8>(fours)), hn::ShiftRight<24>(fours)} {}
    IntegerVector part[4];
  };
  struct Fours {
    explicit HWY_INLINE Fours(uint32_t fours)
        : part{hn::Set(Integers(), int32_t(fours & 0xffu)),
               hn::Set(Integers(), int32_t(fours >> 8 & 0xffu)),
               hn::Set(Integers(), int32_t(fours >> 16 & 0xffu)),
               hn::Set(Integers(), int32_t(fours >> 24))} {}
    IntegerVector part[4];
  };
  static HWY_INLINE IntegerVector dot(IntegerVector sums, const Fours& x, const Weights& w) {
    for (int i = 0; i < 4; ++i) sums = hn::Add(sums, hn::Mul(x.part[i], w.part[i]));
    return sums;
  }
};
#endif

}  // namespace sact::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct SimdInt8, HWY_TARGET> {
  static Part part() {
    using namespace HWY_NAMESPACE;
    return {isa_of(simd_target()), integer_functions<WidenedBytes, RoundedBytes>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> simd_int8_parts() {
  return compiled_parts<SimdInt8>();
}

}  // namespace sact::kernels
#endif
