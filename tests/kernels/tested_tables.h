// The tables that tests of kernels run: what this processor has, and what it emulates.
#pragma once

#include <vector>

#include "kernels/cpu/parts.h"

namespace sact::kernels {

/// The fastest table of this processor with other parts on top.
inline Table table_with(const std::vector<Part>& parts) {
  Table table = *available_tables().back();
  for (const Part& part : parts) {
    table.name = part.isa.name;
    table.typed[size_t(part.typed.type)] = part.typed;
  }
  return table;
}

/// Every table that is available, and products on tiles as every machine can emulate them.
inline const std::vector<const Table*>& tested_tables() {
  static const Table emulated = table_with(emulated_tile_parts());
  static const std::vector<const Table*> all = [] {
    std::vector<const Table*> tables = available_tables();
    tables.push_back(&emulated);
    return tables;
  }();
  return all;
}

}  // namespace sact::kernels
