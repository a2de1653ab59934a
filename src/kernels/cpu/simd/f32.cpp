// Products of float32 operands on Highway.
#include "kernels/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd/f32.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#include "kernels/cpu/simd/target-inl.h"

#if SACT_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace sact::kernels::HWY_NAMESPACE {
#include "kernels/cpu/simd/typed-inl.h"

/// The weights of one more depth.
HWY_INLINE void next_weights(const float*& from, Vector& w0, Vector& w1) {
  const Floats d;
  w0 = hn::LoadU(d, from);
  w1 = hn::LoadU(d, from + kLanes);
  from += kPanel;
}

#include "kernels/cpu/simd/half_weights-inl.h"

struct FloatOperands : FloatVectors {
  using Weight = float;
  using Output = FloatVectors;
  static constexpr bool kNative = true;
  static constexpr int kOperations = 2;

  template <int kRows, typename Weights>
  static HWY_INLINE void multiply(const float* const (&rows)[kRows], int depth, Weights& weights,
                                  Ahead& ahead, Sums<kRows>& sums) {
    const Floats d;
    auto step = [&](int k) SACT_INLINE_LAMBDA {
      Vector w0, w1;
      next_weights(weights, w0, w1);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vector x = hn::Set(d, rows[r][k]);
        sums[r][0] = hn::MulAdd(x, w0, sums[r][0]);
        sums[r][1] = hn::MulAdd(x, w1, sums[r][1]);
      }
    };
    int k = 0;
    for (; k + 4 <= depth; k += 4) {
      ahead.step();
      step(k);
      step(k + 1);
      step(k + 2);
      step(k + 3);
    }
    for (; k < depth; ++k) step(k);
  }

  static HWY_INLINE Vector multiply_add(Vector sum, Vector factor) {
    return hn::MulAdd(sum, factor, factor);
  }
};

#include "kernels/cpu/simd/winograd-inl.h"

inline void float_product(const RowProduct& p) {
  switch (p.stored) {
    case WeightStorage::kOperand:
      return product<FloatOperands, FloatVectors>(p);
    case WeightStorage::kBFloat16:
      return product<FloatOperands, FloatVectors, HalfWeights<hwy::bfloat16_t>>(p);
    case WeightStorage::kFloat16:
      return product<FloatOperands, FloatVectors, HalfWeights<hwy::float16_t>>(p);
  }
}

inline TypedFunctions float_functions() {
  TypedFunctions functions = functions_with_tiles<FloatOperands>();
  functions.product = functions.product_to_f32 = float_product;
  return functions;
}

}  // namespace sact::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace sact::kernels {
template <>
struct Compiled<struct SimdF32, HWY_TARGET> {
  static Part part() {
    return {isa_of(HWY_NAMESPACE::simd_target()), HWY_NAMESPACE::float_functions()};
  }
};
}  // namespace sact::kernels
#endif

#if HWY_ONCE
namespace sact::kernels {

std::vector<Part> simd_f32_parts() {
  return compiled_parts<SimdF32>();
}

}  // namespace sact::kernels
#endif
