// Products of bfloat16 operands by AVX-512's instruction for them. It is an addition to AVX-512
// that some versions of Highway have no target for: found by the width of a target's vectors and
// what the processor says.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/bf16_avx512.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET && HWY_ARCH_X86 && HWY_MAX_BYTES == 64
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace sact::kernels::avx512_bf16 {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/bf16-inl.h"
#include "kernels/cpu/simd/bf16_stored-inl.h"

struct NativeBFloat16 : ConvertedBFloat16 {
  using Weight = uint16_t;
  using Output = ConvertedBFloat16;
  static constexpr bool kNative = true;
  static constexpr int kOperations = 4;  // two products

  static HWY_INLINE Vector load(const uint16_t* from) { return widened(from); }

  template <int kRows>
  static HWY_INLINE void multiply(const uint16_t* const (&rows)[kRows], int depth,
                                  const uint16_t*& weights, Ahead& ahead, Sums<kRows>& sums) {
    const Words words;
    auto step = [&](int k, bool whole) SACT_INLINE_LAMBDA {
      const __m512bh w0 = (__m512bh)_mm512_loadu_si512(weights);
      const __m512bh w1 = (__m512bh)_mm512_loadu_si512(weights + kPanel);
      weights += 2 * kPanel;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const __m512bh x = (__m512bh)hn::Set(words, pair_at(rows[r], k, whole)).raw;
        sums[r][0].raw = _mm512_dpbf16_ps(sums[r][0].raw, x, w0);
        sums[r][1].raw = _mm512_dpbf16_ps(sums[r][1].raw, x, w1);
      }
    };
    for_each_pair(depth, ahead, step);
  }

  static HWY_INLINE Vector multiply_add(Vector sum, Vector factor) {
    return Vector{_mm512_dpbf16_ps(sum.raw, (__m512bh)factor.raw, (__m512bh)factor.raw)};
  }
};

#include "kernels/cpu/simd/winograd-inl.h"

}  // namespace sact::kernels::avx512_bf16
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct Avx512Bf16, HWY_TARGET> {
  static Part part() {
    return {isa_with(isa_of(avx512_bf16::simd_target()), kBf16Isa),
            avx512_bf16::functions_with_tiles<avx512_bf16::NativeBFloat16>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> avx512_bf16_parts() {
  if (!has_avx512_bf16()) return {};
  return compiled_parts<Avx512Bf16>();
}

}  // namespace sact::kernels
#endif
