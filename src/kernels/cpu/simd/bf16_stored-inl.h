// Stores of bfloat16 by the instruction of AVX-512 for them. Included in the namespaces of targets
// that have it.

struct ConvertedBFloat16 : BFloat16 {
  static HWY_INLINE void store(Vector value, uint16_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(value.raw));
  }
};
