#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.h"
#include "kernels/cpu/parts.h"

namespace sact::kernels {
namespace {

constexpr std::vector<Part> (*kTranslationUnits[])() = {
    scalar_row_parts, scalar_f32_parts,  scalar_bf16_parts, scalar_int8_parts, simd_row_parts,
    simd_f32_parts,   simd_bf16_parts,   avx512_bf16_parts, amx_bf16_parts,    simd_int8_parts,
    avx_vnni_parts,   avx512_vnni_parts, amx_int8_parts,
};

const std::vector<Table>& tables() {
  static const std::vector<Table> tables = [] {
    std::vector<Part> parts;
    for (const auto parts_of : kTranslationUnits) {
      for (const Part& part : parts_of()) parts.push_back(part);
    }
    return tables_of(parts);
  }();
  return tables;
}

/// Names are compared without case, hyphens and underscores.
std::string plain(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (c != '-' && c != '_') result += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

std::vector<Table> tables_of(std::vector<Part> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.isa.rank < b.isa.rank; });
  std::vector<Table> tables;
  Table table;
  table.typed.resize(operand_types().size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    table.name = part.isa.name;
    if (part.typed.product) table.typed[size_t(part.typed.type)] = part.typed;
    if (part.rows.scores) static_cast<RowFunctions&>(table) = part.rows;
    if (i + 1 == parts.size() || parts[i + 1].isa.rank != part.isa.rank) tables.push_back(table);
  }
  SACT_ASSERT(!tables.empty() && tables.front().scores);
  for (const TypedFunctions& functions : tables.front().typed) SACT_ASSERT(functions.product);
  return tables;
}

const Table& scalar_table() {
  return tables().front();
}

const std::vector<const Table*>& available_tables() {
  static const std::vector<const Table*> available = [] {
    std::vector<const Table*> all;
    for (const Table& table : tables()) all.push_back(&table);
    return all;
  }();
  return available;
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

PackedWeights pack_weights(const Table& table, DataType type, const float* weights,
                           const WeightStrides& strides, int taps, int depth, int columns,
                           Arena& arena) {
  return pack_weights(operand_type(type), table.functions(type).panel_layout(),
                      {weights, strides, taps, depth, columns}, arena);
}

}  // namespace sact::kernels
