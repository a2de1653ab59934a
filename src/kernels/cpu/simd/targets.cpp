#include "kernels/cpu/simd/targets.h"

#include <hwy/targets.h>

#include <bit>
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace sact::kernels {

Isa isa_of(const SimdTarget& target) {
  constexpr int kBits = 64;
  // Leaves room for additions above each.
  const int rank = (kBits - std::countr_zero(uint64_t(target.bit))) * 8;
  return {rank, target.x86 && target.vector_bytes == 64 ? "AVX512" : target.name};
}

bool can_run(int64_t target_bit) {
  return (hwy::SupportedTargets() & target_bit) != 0;
}

bool has_avx512_bf16() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

bool has_avx512_vnni() {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

bool has_avx_vnni() {
#if HWY_ARCH_X86
  // Compilers do not all know its name.
  constexpr unsigned kAvxVnni = 1u << 4;
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
#else
  return false;
#endif
}

Isa isa_with(const Isa& isa, const IsaAddition& addition) {
  return {isa.rank + addition.rank, addition.name};
}

}  // namespace sact::kernels
