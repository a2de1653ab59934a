// Products of bfloat16 operands on Highway, worked out in float32.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/bf16.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::HWY_NAMESPACE {
#include "kernels/cpu/simd/typed-inl.h"
//
#include "kernels/cpu/simd/bf16-inl.h"

struct WidenedBFloat16 : RoundedBFloat16 {
  using Weight = uint16_t;
  using Output = RoundedBFloat16;
  static constexpr bool kNative = false;
  static constexpr int kOperations = 2;

  static HWY_INLINE Vector load(const uint16_t* from) { return widened(from); }

  template <int kRows>
  static HWY_INLINE void multiply(const uint16_t* const (&rows)[kRows], int depth,
                                  const uint16_t*& weights, Ahead& ahead, Sums<kRows>& sums) {
    const Words words;
    const Floats d;
    // A pair of bfloat16 is one word: the upper half is a float once the lower is cleared.
    auto low = [&](hn::Vec<Words> pair)
                   SACT_INLINE_LAMBDA { return hn::BitCast(d, hn::ShiftLeft<16>(pair)); };
    auto high = [&](hn::Vec<Words> pair) SACT_INLINE_LAMBDA {
      return hn::BitCast(d, hn::And(pair, hn::Set(words, 0xffff0000u)));
    };
    auto step = [&](int k, bool whole) SACT_INLINE_LAMBDA {
      const auto* from = reinterpret_cast<const uint32_t*>(weights);
      const auto pair0 = hn::LoadU(words, from), pair1 = hn::LoadU(words, from + kLanes);
      weights += 2 * kPanel;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const auto pair = hn::Set(words, pair_at(rows[r], k, whole));
        const Vector x0 = low(pair), x1 = high(pair);
        sums[r][0] = hn::MulAdd(x1, high(pair0), hn::MulAdd(x0, low(pair0), sums[r][0]));
        sums[r][1] = hn::MulAdd(x1, high(pair1), hn::MulAdd(x0, low(pair1), sums[r][1]));
      }
    };
    for_each_pair(depth, ahead, step);
  }

  static HWY_INLINE Vector multiply_add(Vector sum, Vector factor) {
    return hn::MulAdd(sum, factor, factor);
  }
};

#include "kernels/cpu/simd/winograd-inl.h"

}  // namespace sact::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct SimdBf16, HWY_TARGET> {
  static Part part() {
    return {isa_of(HWY_NAMESPACE::simd_target()),
            HWY_NAMESPACE::functions_with_tiles<HWY_NAMESPACE::WidenedBFloat16>()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> simd_bf16_parts() {
  return compiled_parts<SimdBf16>();
}

}  // namespace sact::kernels
#endif
