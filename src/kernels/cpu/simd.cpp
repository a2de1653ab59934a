// Compiles the kernels of rows-inl.h for every instruction set that pays.
#include "kernels/cpu/simd.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half.h"

// SSE is too slow to matter beside the scalar form's simplicity; vectors of unknown length cannot
// be held in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
// must follow foreach_target.h
#include <hwy/highway.h>

#ifndef SACT_INLINE_LAMBDA
// For lambdas in kernels, which must become part of the loop around them.
#define SACT_INLINE_LAMBDA __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace sact::kernels {
namespace HWY_NAMESPACE {

// Highway compiles for its own scalar form where a processor may have none of the others.
#if HWY_TARGET == HWY_SCALAR
const Table* make_table() {
  return nullptr;
}
#else
#define SACT_NATIVE_BF16 0
#include "kernels/cpu/rows-inl.h"
#undef SACT_NATIVE_BF16

const Table* make_table() {
  constexpr bool kAvx512 = HWY_TARGET == HWY_AVX3;
  static const Table table = table_of(kAvx512 ? "AVX512" : hwy::TargetName(HWY_TARGET));
  return &table;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace sact::kernels
HWY_AFTER_NAMESPACE();

// Highway 1.0 has no name for AVX-512 with products of bfloat16, so it is made from AVX-512 here.
#if HWY_TARGET == HWY_AVX3
#define SACT_HAS_AVX512_BF16 1
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512bf16")
namespace sact::kernels {
namespace avx512_bf16 {

#define SACT_NATIVE_BF16 1
#include "kernels/cpu/rows-inl.h"
#undef SACT_NATIVE_BF16

const Table* make_table() {
  static const Table table = table_of("AVX512-BF16");
  return &table;
}

}  // namespace avx512_bf16
}  // namespace sact::kernels
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sact::kernels {

HWY_EXPORT(make_table);

std::vector<const Table*> simd_tables() {
  std::vector<const Table*> tables;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {  // best first
    hwy::SetSupportedTargetsForTest(target);
    const Table* table = HWY_DYNAMIC_DISPATCH(make_table)();
    if (table) tables.insert(tables.begin(), table);
  }
  hwy::SetSupportedTargetsForTest(0);
#ifdef SACT_HAS_AVX512_BF16
  const bool avx512 = !tables.empty() && std::strcmp(tables.back()->name, "AVX512") == 0;
  if (avx512 && __builtin_cpu_supports("avx512bf16")) tables.push_back(avx512_bf16::make_table());
#endif
  return tables;
}

}  // namespace sact::kernels
#endif
