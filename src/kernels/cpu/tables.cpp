#include <cctype>

#include "base/error.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/simd.h"

namespace sact::kernels {

const std::vector<const Table*>& available_tables() {
  static const std::vector<const Table*> tables = [] {
    std::vector<const Table*> all = {&scalar_table()};
    for (const Table* table : simd_tables()) all.push_back(table);
    return all;
  }();
  return tables;
}

namespace {

/// Names are compared without case, hyphens and underscores.
std::string plain(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c != '-' && c != '_') result += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

TapChoice tap_choice(const RowProduct& product, DataType type) {
  // Measured on Zen 4: from a kilobyte a tap on, leaving out five hundredths of the products gains
  // what the trips of the sums to memory cost.
  constexpr int kLeastBytes = 1024;
  constexpr double kLeastShare = 0.05;
  if (product.taps == 1) return kOneTap;
  if (product.taps != 9 || product.zero_row < 0)
    return {TapOrder::kRegisters, "no border of zeros"};
  if (product.depth * element_size(type) < kLeastBytes)
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

const Table& chosen_table(std::string_view name) {
  std::string known;
  for (const Table* table : available_tables()) {
    if (plain(name) == plain(table->name)) return *table;
    known += std::string(known.empty() ? "" : ", ") + table->name;
  }
  if (name.empty()) return *available_tables().back();
  fail("instruction set '{}' is not known or not available here: SACT_ISA can be {}",
       printable(name), known);
}

}  // namespace sact::kernels
