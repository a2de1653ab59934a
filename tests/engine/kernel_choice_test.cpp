// Which kernels are chosen for a type, by how fast they are.
#include "engine/cpu/kernel_choice.h"

#include <gtest/gtest.h>

#include "kernels/cpu/parts.h"

namespace sact::engine {
namespace {

using kernels::DataType;
using kernels::Isa;
using kernels::Part;
using kernels::RowProduct;
using kernels::Table;

void plain_product(const RowProduct&) {}
void widened_product(const RowProduct&) {}
void dot_product(const RowProduct&) {}
void tile_product(const RowProduct&) {}
void some_scores(const kernels::RowScores&) {}

Part part_of(Isa isa, DataType type, bool native, void (*product)(const RowProduct&)) {
  Part part{isa};
  part.typed.type = type;
  part.typed.native = native;
  part.typed.product = product;
  return part;
}

/// Tables of a processor with instructions for bfloat16, and perhaps tiles.
std::vector<Table> tables_with(bool dots, bool tiles) {
  const Isa base{0, "base"}, dot{1, "dot"}, tile{2, "tile"};
  std::vector<Part> parts = {{base, {}, {some_scores, nullptr, nullptr}},
                             part_of(base, DataType::kFloat32, true, plain_product),
                             part_of(base, DataType::kBFloat16, false, widened_product),
                             part_of(base, DataType::kInt8, false, widened_product)};
  if (dots) parts.push_back(part_of(dot, DataType::kBFloat16, true, dot_product));
  if (tiles) parts.push_back(part_of(tile, DataType::kBFloat16, true, tile_product));
  return kernels::tables_of(parts);
}

KernelChoice choice_of(const std::vector<Table>& tables, DataType type, double dot_rate,
                       double tile_rate) {
  std::vector<const Table*> pointers;
  for (const Table& table : tables) pointers.push_back(&table);
  return fastest_choice(type, pointers, [&](const Table& table, DataType measured) {
    if (measured == DataType::kFloat32) return 1.0;
    return table.functions(measured).product == tile_product ? tile_rate : dot_rate;
  });
}

TEST(KernelChoice, InstructionsForATypeAreUsedWhereTheyBeatFloat32) {
  const auto both = tables_with(true, true);
  EXPECT_STREQ(choice_of(both, DataType::kBFloat16, 0.5, 8).table->name, "tile");
  EXPECT_STREQ(choice_of(both, DataType::kBFloat16, 1.9, 0.5).table->name, "dot");
  EXPECT_EQ(choice_of(both, DataType::kBFloat16, 1.9, 0.5).type, DataType::kBFloat16);
}

TEST(KernelChoice, Float32RunsWhereTheyDoNotAndTheChoiceSaysSo) {
  const auto slow = tables_with(true, false);
  const KernelChoice choice = choice_of(slow, DataType::kBFloat16, 0.5, 0);
  EXPECT_EQ(choice.type, DataType::kFloat32);
  EXPECT_STREQ(choice.table->name, "base");
  EXPECT_NE(choice.why.find("dot bf16 has 0.50 times the speed of fp32"), std::string::npos)
      << choice.why;
}

TEST(KernelChoice, WithoutInstructionsForATypeItIsWidened) {
  const auto old = tables_with(false, false);
  const KernelChoice choice = choice_of(old, DataType::kBFloat16, 0.5, 0);
  EXPECT_EQ(choice.type, DataType::kBFloat16);
  EXPECT_STREQ(choice.table->name, "base");
}

TEST(KernelChoice, Float32IsNamedByTheInstructionSetThatRunsIt) {
  const auto both = tables_with(true, true);
  EXPECT_STREQ(choice_of(both, DataType::kFloat32, 2, 8).table->name, "base");
}

TEST(KernelChoice, AnInstructionSetThatWasAskedForIsTaken) {
  const KernelChoice choice = kernel_choice(DataType::kBFloat16, "scalar");
  EXPECT_STREQ(choice.table->name, "scalar");
  EXPECT_EQ(choice.type, DataType::kBFloat16);
}

TEST(KernelChoice, OfThisProcessorHasAReason) {
  for (const kernels::OperandType& type : kernels::operand_types()) {
    const KernelChoice choice = kernel_choice(type.type);
    ASSERT_NE(choice.table, nullptr);
    EXPECT_FALSE(choice.why.empty());
  }
}

}  // namespace
}  // namespace sact::engine
