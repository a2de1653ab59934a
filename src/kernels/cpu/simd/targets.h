// Which of Highway's targets kernels are compiled for, and how what was compiled is collected. A
// translation unit of SIMD kernels includes this before anything of Highway:
//
//   #include "kernels/cpu/simd/targets.h"
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/cpu/simd/x.cpp"
//   #include <hwy/foreach_target.h>  // compiles the file once for each target
//   // must follow foreach_target.h
//   #include <hwy/highway.h>
//   #include "kernels/cpu/simd/target-inl.h"
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/parts.h"

// Those that target-inl.h leaves out anyhow: not to look at them saves time. Newer versions of
// Highway have more.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// For lambdas in kernels, which must become part of the loop around them.
#define SACT_INLINE_LAMBDA __attribute__((always_inline))

namespace sact::kernels {

/// What Highway says of a target.
struct SimdTarget {
  int64_t bit = 0;  // one; a lower one is better
  const char* name = "";
  bool x86 = false;
  int vector_bytes = 0;
};

/// The instruction set that a target stands for, by what it can do: Highway's names of those with
/// the same vectors differ by version and in instructions that are not used here.
Isa isa_of(const SimdTarget& target);

/// Whether this processor, and its system, can run it.
bool can_run(int64_t target_bit);

/// Products of bfloat16 in vectors of 512 bits, which only some processors with such vectors have.
bool has_avx512_bf16();
/// Products of whole numbers of 8 bits in vectors of 512 bits, of 256 bits.
bool has_avx512_vnni();
bool has_avx_vnni();

/// What an instruction set can have besides: a table of its own, above that of the instruction set
/// alone.
struct IsaAddition {
  int rank = 0;  // 1 to 7
  const char* name = "";
};
inline constexpr IsaAddition kVnni256Isa = {1, "AVX2-VNNI"};  // to AVX2; the others to AVX-512
inline constexpr IsaAddition kVnniIsa = {1, "AVX512-VNNI"}, kBf16Isa = {2, "AVX512-BF16"};
inline constexpr IsaAddition kAmxIsa = {3, "AMX"}, kEmulatedTilesIsa = {4, "emulated tiles"};
Isa isa_with(const Isa& isa, const IsaAddition& addition);

/// What a translation unit has for a target is a specialisation with a function part().
template <typename Unit, int64_t kTarget>
struct Compiled {};

/// All parts of a translation unit that this processor can run.
template <typename Unit>
std::vector<Part> compiled_parts() {
  constexpr int kTargetBits = 63;
  std::vector<Part> parts;
  const auto add = [&]<int kBit>() {
    using Target = Compiled<Unit, (int64_t{1} << kBit)>;
    if constexpr (requires { Target::part(); }) {
      if (can_run(int64_t{1} << kBit)) parts.push_back(Target::part());
    }
  };
  [&]<int... kBits>(std::integer_sequence<int, kBits...>) {
    (add.template operator()<kBits>(), ...);
  }
  (std::make_integer_sequence<int, kTargetBits>());
  return parts;
}

}  // namespace sact::kernels
