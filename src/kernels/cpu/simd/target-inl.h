// Sets SACT_SIMD_TARGET where the current target of Highway is worth kernels of its own.
#undef SACT_SIMD_TARGET
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define SACT_SIMD_TARGET 0  // the scalar table is simpler
#elif HWY_HAVE_SCALABLE
#define SACT_SIMD_TARGET 0  // vectors of unknown length cannot be held in arrays
#elif HWY_ARCH_X86 && HWY_MAX_BYTES < 32
#define SACT_SIMD_TARGET 0  // SSE is too slow to matter beside the scalar form's simplicity
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 64 && HWY_TARGET != HWY_AVX3 && \
    HWY_TARGET != HWY_STATIC_TARGET
#define SACT_SIMD_TARGET 0  // AVX-512 with more than is used here
#else
#define SACT_SIMD_TARGET 1
#endif
