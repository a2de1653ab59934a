#include "kernels/cpu/tap_order.h"

#include "kernels/cpu/operand_types.h"

namespace sact::kernels {

const char* name_of(TapOrder order) {
  switch (order) {
    case TapOrder::kRegisters:
      return "registers";
    case TapOrder::kMemory:
      return "memory";
    case TapOrder::kTilesOfTwo:
      return "2x2 tiles";
    case TapOrder::kTilesOfFour:
      return "4x4 tiles";
  }
  return "";
}

TapChoice tap_choice(const RowProduct& product, DataType type) {
  // Measured on Zen 4: from a kilobyte a tap on, leaving out five hundredths of the products gains
  // what the trips of the sums to memory cost.
  constexpr int kLeastBytes = 1024;
  constexpr double kLeastShare = 0.05;
  if (product.taps == 1) return kOneTap;
  if (type == DataType::kInt8) return {TapOrder::kRegisters, "whole numbers"};
  if (product.taps != 9 || product.zero_row < 0)
    return {TapOrder::kRegisters, "no border of zeros"};
  if (product.depth * operand_type(type).rows.bytes < kLeastBytes)
    return {TapOrder::kRegisters, "below 1 KiB a tap"};
  int64_t outside = 0;
  for (int i = 0; i < product.rows; ++i) {
    const int64_t position = product.list ? product.list[i] : i;
    const int32_t* rows = product.input_rows + position * product.taps;
    for (int tap = 0; tap < product.taps; ++tap) outside += rows[tap] == product.zero_row;
  }
  const double all = double(product.rows) * product.taps;
  if (double(outside) < kLeastShare * all) return {TapOrder::kRegisters, "little border"};
  return {TapOrder::kMemory, "deep taps, much border"};
}

}  // namespace sact::kernels
