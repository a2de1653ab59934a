// What tables are put together from: each translation unit of kernels has those of one type of
// operands (or those of rows of 32 bits) for one instruction set, or for each of Highway's targets.
#pragma once

#include <vector>

#include "kernels/cpu/kernels.h"

namespace sact::kernels {

/// An instruction set, or an addition to one; a higher rank is faster.
struct Isa {
  int rank = 0;
  const char* name = "";
};
inline constexpr Isa kScalarIsa = {0, "scalar"};

/// What an instruction set has: functions of one type, or those of rows.
struct Part {
  Isa isa;
  TypedFunctions typed = {};  // none where `product` is null
  RowFunctions rows = {};     // none where `scores` is null
};

/// One table for each instruction set, the scalar one first. What an instruction set does not have
/// is taken from the one below it; the lowest has everything.
std::vector<Table> tables_of(std::vector<Part> parts);

// The translation units; each gives what this processor can run.
std::vector<Part> scalar_row_parts();
std::vector<Part> scalar_f32_parts();
std::vector<Part> scalar_bf16_parts();
std::vector<Part> scalar_int8_parts();
std::vector<Part> simd_row_parts();
std::vector<Part> simd_f32_parts();
std::vector<Part> simd_bf16_parts();
std::vector<Part> avx512_bf16_parts();
std::vector<Part> amx_bf16_parts();
std::vector<Part> simd_int8_parts();
std::vector<Part> avx_vnni_parts();
std::vector<Part> avx512_vnni_parts();
std::vector<Part> amx_int8_parts();
// For tests: products on emulated tiles, and those that must equal amx_bf16_parts() to the bit.
std::vector<Part> emulated_tile_parts();
std::vector<Part> emulated_amx_bf16_parts();

}  // namespace sact::kernels
