// All functions of one type of operands. Included once for every target, in its namespace.
//
// Besides what product-inl.h asks for, `Operands` has
//
//   static constexpr bool kNative;
//   using Output = ...;  // with store() of a vector as elements
//
// and, for measuring what the processor can do at best, one step of multiply-adds:
//
//   static constexpr int kOperations;  // of one lane, in one step
//   static Vector multiply_add(Vector sum, Vector factor);
#include "kernels/cpu/simd/vectors-inl.h"
//
#include "kernels/cpu/simd/epilogue-inl.h"
//
#include "kernels/cpu/simd/norm-inl.h"
#include "kernels/cpu/simd/product-inl.h"

/// More sums than a multiply-add takes cycles, so that none waits for another.
constexpr int kPeakSums = 12;

template <typename Operands>
int64_t multiply_adds(int64_t steps) {
  const Floats d;
  volatile float number = 0.5f;
  const Vector factor = hn::Set(d, number);
  Vector sums[kPeakSums];
#pragma GCC unroll 12
  for (int i = 0; i < kPeakSums; ++i) sums[i] = factor;
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakSums; ++i) sums[i] = Operands::multiply_add(sums[i], factor);
  }
  for (const Vector& sum : sums) number = hn::GetLane(hn::SumOfLanes(d, sum));
  return steps * kPeakSums * kLanes * Operands::kOperations;
}

template <typename Operands>
TypedFunctions typed_functions() {
  return {.type = Operands::kType,
          .native = Operands::kNative,
          .panel_columns = kPanel,
          .tile_rows = kTileRows,
          .product = product<Operands, typename Operands::Output>,
          .product_to_f32 = product<Operands, FloatVectors>,
          .norm = norm<typename Operands::Output>,
          .multiply_adds = multiply_adds<Operands>};
}
