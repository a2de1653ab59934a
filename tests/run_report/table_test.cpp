// Tests of tables as text, Markdown and CSV.
#include "report/table.h"

#include <gtest/gtest.h>

namespace sact::report {
namespace {

Table example() {
  return {
      {"model", "ρ", "note"}, {{"SACT τ = 0.01", "23.4 ± 1.2", "a"}, {"ResNet", "n/a", ""}}, {}};
}

TEST(Table, TextColumnsLineUpWithGreekLetters) {
  EXPECT_EQ(to_text(example()),
            "model                   ρ  note\n"
            "-------------  ----------  ----\n"
            "SACT τ = 0.01  23.4 ± 1.2  a\n"
            "ResNet                n/a\n");
}

TEST(Table, MarkdownSaysTheAlignment) {
  EXPECT_EQ(to_markdown(example()),
            "| model         |          ρ | note |\n"
            "| ------------- | ---------: | ---- |\n"
            "| SACT τ = 0.01 | 23.4 ± 1.2 | a    |\n"
            "| ResNet        |        n/a |      |\n");
}

TEST(Table, MarkdownCellsCannotBreakTheTable) {
  const std::string text = to_markdown({{"a|b"}, {{"x\ny <b>"}}, {}});
  EXPECT_EQ(text, "| a\\|b       |\n| ---------- |\n| x y &lt;b> |\n");
}

TEST(Table, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(to_csv({{"accuracy, %", "τ"}, {{"1", "say \"x\""}, {"2"}}, {}}),
            "\"accuracy, %\",τ\n1,\"say \"\"x\"\"\"\n2,\n");
}

TEST(Table, GivenAlignmentWinsOverContent) {
  Table table{{"a", "b"}, {{"1", "x"}, {"22", "yy"}}, {ColumnAlign::kLeft, ColumnAlign::kRight}};
  EXPECT_EQ(to_text(table), "a    b\n--  --\n1    x\n22  yy\n");
}

TEST(Table, NumbersAreTold) {
  for (const char* text :
       {"7", "-1.5e-3", "−2", "15 602 814 976", "76.4 %", "2.1 ± 0.3", "224×224", "1,024", "inf"}) {
    EXPECT_TRUE(looks_like_number(text)) << text;
  }
  for (const char* text : {"", "e", "E5", "-", "15.6 GFLOP", "SACT", "block 4", "±"}) {
    EXPECT_FALSE(looks_like_number(text)) << text;
  }
}

TEST(Table, ColumnOfBlanksIsText) {
  const Table table{{"a"}, {{"-"}, {""}}, {}};
  EXPECT_FALSE(table.right_aligned(0));
}

TEST(Table, ShortRowsAndNoHeaderAreFine) {
  EXPECT_EQ(to_text({{}, {{"a", "b"}, {"c"}}, {}}), "a  b\nc\n");
  EXPECT_EQ(to_text({}), "");
}

TEST(Table, TerminalGetsNoControlCharacters) {
  EXPECT_EQ(to_text({{}, {{"\x1b[2J\n"}}, {}}), "\ufffd[2J\n");
}

}  // namespace
}  // namespace sact::report
