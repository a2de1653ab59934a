// How tables of functions are put together, named and chosen.
#include <gtest/gtest.h>

#include "kernels/cpu/parts.h"
#include "kernels/cpu/simd/targets.h"
#include "kernels/cpu/tiles/hardware.h"
#include "support/errors.h"

namespace sact::kernels {
namespace {

TEST(Tables, AnInstructionSetCanBeChosenByName) {
  for (const Table* table : available_tables()) EXPECT_EQ(&chosen_table(table->name), table);
  EXPECT_EQ(&chosen_table("Sca-lar"), &scalar_table());
  EXPECT_EQ(&chosen_table(), available_tables().back());
  const std::string message = test::error_of([] { chosen_table("mmx"); });
  EXPECT_NE(message.find("scalar"), std::string::npos) << message;
}

TEST(Tables, HaveFunctionsOfEveryType) {
  for (const Table* table : available_tables()) {
    EXPECT_TRUE(table->scores && table->sum && table->maximum) << table->name;
    for (const OperandType& type : operand_types()) {
      const TypedFunctions& functions = table->functions(type.type);
      EXPECT_EQ(functions.type, type.type) << table->name;
      EXPECT_TRUE(functions.product && functions.product_to_f32 && functions.norm) << table->name;
    }
  }
}

void first(const RowProduct&) {}
void second(const RowProduct&) {}
void some_scores(const RowScores&) {}

Part typed_part(Isa isa, DataType type, void (*product)(const RowProduct&), int tile_rows) {
  Part part{isa};
  part.typed.type = type;
  part.typed.product = product;
  part.typed.tile_rows = tile_rows;
  return part;
}

TEST(Tables, TakeFromTheOneBelowWhatTheyDoNotBring) {
  const Isa low{0, "low"}, high{7, "high"};
  const std::vector<Table> tables = tables_of({typed_part(high, DataType::kBFloat16, second, 32),
                                               {low, {}, {some_scores, nullptr, nullptr}},
                                               typed_part(low, DataType::kBFloat16, first, 2),
                                               typed_part(low, DataType::kFloat32, first, 1),
                                               typed_part(low, DataType::kInt8, first, 1)});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_STREQ(tables[0].name, "low");
  EXPECT_EQ(tables[0].functions(DataType::kBFloat16).product, first);
  EXPECT_STREQ(tables[1].name, "high");
  EXPECT_EQ(tables[1].scores, some_scores);
  EXPECT_EQ(tables[1].functions(DataType::kFloat32).product, first);
  EXPECT_EQ(tables[1].functions(DataType::kFloat32).tile_rows, 1);
  EXPECT_EQ(tables[1].functions(DataType::kBFloat16).product, second);
  EXPECT_EQ(tables[1].functions(DataType::kBFloat16).tile_rows, 32);
}

TEST(Tables, TargetsOfHighwayAreNamedByWhatTheyCanDo) {
  // The last two are in newer versions only.
  const SimdTarget avx2 = {1LL << 9, "AVX2", true, 32}, avx3 = {1LL << 8, "AVX3", true, 64};
  const SimdTarget zen4 = {1LL << 6, "AVX3_ZEN4", true, 64}, spr = {1LL << 4, "AVX3_SPR", true, 64};
  EXPECT_STREQ(isa_of(avx2).name, "AVX2");
  for (const SimdTarget& target : {avx3, zen4, spr}) {
    EXPECT_STREQ(isa_of(target).name, "AVX512");
    EXPECT_STREQ(isa_with(isa_of(target), kBf16Isa).name, "AVX512-BF16");
    EXPECT_LT(isa_of(avx2).rank, isa_of(target).rank);
    EXPECT_LT(isa_of(target).rank, isa_with(isa_of(target), kBf16Isa).rank);
    EXPECT_LT(isa_with(isa_of(target), kBf16Isa).rank, isa_with(isa_of(target), kAmxIsa).rank);
  }
  EXPECT_LT(isa_with(isa_of(avx3), kAmxIsa).rank, isa_of(zen4).rank);
  EXPECT_STREQ(isa_of({1LL << 28, "NEON", false, 16}).name, "NEON");
  EXPECT_STREQ(isa_of({1LL << 40, "LASX", false, 32}).name, "LASX");
  EXPECT_STREQ(isa_of({1LL << 60, "Unknown", false, 64}).name, "Unknown");
  EXPECT_LT(kScalarIsa.rank, isa_of({1LL << 62, "SCALAR", false, 4}).rank);
}

TEST(Tables, TheBFloat16InstructionIsUsedWhereTheProcessorHasIt) {
  if (!has_avx512_bf16()) GTEST_SKIP() << "this processor has no products of bfloat16";
  EXPECT_TRUE(available_tables().back()->functions(DataType::kBFloat16).native);
  const Table &with = chosen_table("AVX512-BF16"), &without = chosen_table("AVX512");
  EXPECT_FALSE(without.functions(DataType::kBFloat16).native);
  EXPECT_EQ(with.functions(DataType::kFloat32).product,
            without.functions(DataType::kFloat32).product);
}

TEST(Tables, InstructionsForWholeNumbersAreUsedWhereTheProcessorHasThem) {
  const auto product_of = [](const char* isa) {
    return chosen_table(isa).functions(DataType::kInt8).product;
  };
  if (has_avx512_vnni()) {
    EXPECT_NE(product_of("AVX512-VNNI"), product_of("AVX512"));
  }
  if (has_avx_vnni()) {
    EXPECT_NE(product_of("AVX2-VNNI"), product_of("AVX2"));
  }
  if (has_int8_tiles()) {
    EXPECT_NE(product_of("AMX"), product_of("AVX512-VNNI"));
  }
  for (const Table* table : available_tables()) {
    EXPECT_EQ(table->functions(DataType::kInt8).likes_borders,
              has_int8_tiles() && table == &chosen_table("AMX"));
  }
}

TEST(Tables, TilesAreUsedWhereATrialProductWorks) {
  if (!has_bf16_tiles()) GTEST_SKIP() << "this processor has no tiles for bfloat16";
  const Table &with = chosen_table("AMX"), &without = chosen_table("AVX512");
  EXPECT_EQ(&with, available_tables().back());
  EXPECT_TRUE(with.functions(DataType::kBFloat16).native);
  EXPECT_EQ(with.functions(DataType::kFloat32).product,
            without.functions(DataType::kFloat32).product);
}

}  // namespace
}  // namespace sact::kernels
