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

TapOrder tap_order(const RowProduct& product, DataType type) {
  // Measured on Zen 4: from a kilobyte a tap on, leaving the border out gains more than the trips
  // of the sums to memory cost, on grids of 14x14 and less; on larger ones neither matters.
  constexpr int kLeastBytes = 1024;
  const bool deep = product.depth * element_size(type) >= kLeastBytes;
  const bool has_border = product.taps == 9 && product.zero_row >= 0;
  return deep && has_border ? TapOrder::kMemory : TapOrder::kRegisters;
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
