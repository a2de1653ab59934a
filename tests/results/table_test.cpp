// The table of results, for people and for programs.
#include "results/table.h"

#include <gtest/gtest.h>

#include "examples.h"

namespace sact::results {
namespace {

constexpr Size k128{128, 128}, k192{192, 192};

std::vector<Row> example() {
  return rows_of({{"ResNet:101", test::plain(0.75)},
                  {"SACT:0.005", test::adaptive(0.7512)},
                  {"SACT:0.005", test::adaptive(0.7548)},
                  {"SACT:0.01", test::adaptive(0.7, {192})}});
}

TEST(ResultsTable, ReadsAsThePaperWritesIt) {
  const report::Table table = results_table(example(), k128);
  EXPECT_EQ(table.rows[0],
            (std::vector<std::string>{"ResNet 101", "2.000", "2, 3", "75.00", "87.50", "1"}));
  EXPECT_EQ(table.rows[1],
            (std::vector<std::string>{"SACT 0.005", "1.500 ± 0.100", "1.5 ± 0.5, 2.2 ± 0.8",
                                      "75.30 ± 0.18", "87.65 ± 0.09", "2"}));
  EXPECT_EQ(table_title(example(), k128), "128×128, 1 000 images");
}

TEST(ResultsTable, SizeThatARowLacksIsDashes) {
  EXPECT_EQ(results_table(example(), k128).rows[2],
            (std::vector<std::string>{"SACT 0.01", "—", "—", "—", "—", "—"}));
  EXPECT_EQ(results_table(example(), k192).rows[0][1], "—");
  EXPECT_EQ(results_table(example(), k192).rows[2][3], "70.64");
}

TEST(ResultsTable, BaselinesOfSeedsThatDifferShowTheirMean) {
  EvalResult other = test::plain(0.75);
  other.sizes[0].units[0].mean = 3;
  const auto rows = rows_of({{"B", test::plain(0.75)}, {"B", other}});
  EXPECT_EQ(results_table(rows, k128).rows[0][2], "2.5, 3");
}

TEST(ResultsTable, SmallNetworksKeepTheirDigits) {
  const auto rows = rows_of({{"tiny", test::plain(0.5, {128}, 0.012345e9)}});
  EXPECT_EQ(results_table(rows, k128).rows[0][1], "0.01235");
}

TEST(ResultsTable, FootnoteSaysWhatTheSpreadsAre) {
  EXPECT_EQ(footnote(rows_of({{"P", test::plain(0.5)}}), {k128}), "");
  const std::string two = footnote(example(), {k128});
  EXPECT_NE(two.find("standard deviation over images, both averaged over seeds"), std::string::npos)
      << two;
  EXPECT_NE(two.find("half the range of the two seeds"), std::string::npos) << two;
  EXPECT_EQ(footnote(example(), {k192}).find("seeds"), std::string::npos) << "one seed there";
  const auto three =
      rows_of({{"P", test::plain(0.5)}, {"P", test::plain(0.6)}, {"P", test::plain(0.7)}});
  EXPECT_NE(footnote(three, {k128}).find("the standard deviation over seeds"), std::string::npos);
  EXPECT_EQ(footnote(three, {k128}).find("images"), std::string::npos) << "nothing is adaptive";
}

TEST(ResultsTable, NumbersAreWholeForPrograms) {
  const report::Table table = numbers_table(example(), {k128, k192});
  ASSERT_EQ(table.rows.size(), 3u) << "what was not evaluated has no line";
  const auto cell = [&](size_t row, const std::string& column) {
    const auto found = std::find(table.header.begin(), table.header.end(), column);
    return found == table.header.end() ? "no such column"
                                       : table.rows[row][size_t(found - table.header.begin())];
  };
  EXPECT_EQ(cell(1, "network"), "SACT 0.005");
  EXPECT_EQ(cell(1, "series"), "SACT");
  EXPECT_EQ(cell(1, "seeds"), "2");
  EXPECT_EQ(cell(1, "height"), "128");
  EXPECT_EQ(cell(2, "width"), "192");
  EXPECT_EQ(cell(0, "accuracy"), "0.75");
  EXPECT_EQ(cell(1, "flops"), "1500000000");
  EXPECT_EQ(cell(1, "units_2"), "2.25");
  EXPECT_EQ(cell(1, "units_2_std"), "0.75");
}

TEST(ResultsTable, JsonHasEverySize) {
  const io::Json json = to_json(example(), {k128, k192});
  ASSERT_EQ(json["tables"].size(), 2u);
  EXPECT_EQ(json["tables"][0]["rows"].size(), 2u);
  const io::Json& row = json["tables"][0]["rows"][1];
  EXPECT_EQ(row["label"], "0.005");
  EXPECT_EQ(row["seeds"], 2);
  EXPECT_NEAR(row["accuracy"]["spread"].get<double>(), 0.0018, 1e-12);
  EXPECT_EQ(row["units"][0]["std"], 0.5);
  EXPECT_EQ(json["tables"][1]["width"], 192);
}

}  // namespace
}  // namespace sact::results
