#include <cstdlib>

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

const Table& chosen_table(std::string_view name) {
  std::string known;
  for (const Table* table : available_tables()) {
    if (name == table->name) return *table;
    known += std::string(known.empty() ? "" : ", ") + table->name;
  }
  if (name.empty()) return *available_tables().back();
  fail("instruction set '{}' is not known or not available here: SACT_ISA can be {}",
       printable(name), known);
}

}  // namespace sact::kernels
