// Vectors of one target, and how many of them make a tile. Included once for every target, in its
// namespace.
//
// What makes a product fast is the tile: the sums of kTileRows rows and one panel of columns fill
// the registers, so that a step through the depth loads two vectors of weights and one number of
// each row, and does two multiply-adds for each row. Weights are read in the order they lie in;
// rows are read where they are, through pointers, and never copied together.

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<uint32_t>;
using Vector = hn::Vec<Floats>;

constexpr int kLanes = int(hn::MaxLanes(Floats()));
constexpr int kPanel = 2 * kLanes;
#if HWY_ARCH_X86 ? HWY_MAX_BYTES < 64 : !(HWY_ARCH_ARM_A64 || HWY_ARCH_PPC)
constexpr int kRegisters = 16;
#else
constexpr int kRegisters = 32;
#endif
// Two vectors of sums for every row, two of weights and one of the input must fit the registers.
constexpr int kTileRows = kRegisters == 32 ? 12 : 6;

/// The larger of a number and a value, or the value where it is NaN, which must not be hidden.
/// Highway's Max leaves that case to the processor: x86 gives the second operand, and vmaxnm of
/// NEON the number.
HWY_INLINE Vector at_least(Vector number, Vector value) {
#if HWY_ARCH_X86
  return hn::Max(number, value);
#elif HWY_ARCH_ARM
  return Vector(vmaxq_f32(number.raw, value.raw));
#else
  return hn::IfThenElse(hn::Lt(value, number), number, value);
#endif
}

/// Numbers of 32 bits.
struct FloatVectors : Float32 {
  static HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
  static HWY_INLINE void store(Vector value, float* to) { hn::StoreU(value, Floats(), to); }
};

inline SimdTarget simd_target() {
  return {HWY_TARGET, hwy::TargetName(HWY_TARGET), HWY_ARCH_X86 != 0, kLanes * int(sizeof(float))};
}
