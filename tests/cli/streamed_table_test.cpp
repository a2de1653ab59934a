#include "cli/streamed_table.h"

#include <gtest/gtest.h>

#include "base/unicode.h"

namespace sact::cli {
namespace {

StreamedTable table_of(size_t width) {
  StreamedTable table({{"image", 5, true}, {"class", 5, true}, {"ms", 7}});
  table.widen(0, "photographs/of/last/summer/0001.jpg");
  table.widen(1, "golf ball");
  table.fit(width);
  return table;
}

TEST(StreamedTable, OnATerminalLongNamesAreCutInTheMiddle) {
  const StreamedTable table = table_of(40);
  const std::string row = table.row({"photographs/of/last/summer/0001.jpg", "golf ball", "12.3"});
  EXPECT_EQ(display_width(row), 40u) << row;
  EXPECT_EQ(row, "photograp…r/0001.jpg  golf ball     12.3");
}

TEST(StreamedTable, WhereThereIsNoRoomColumnsThatCanBeSparedAreLeftOut) {
  StreamedTable table({{"image", 30, true}, {"a", 9, false, 2}, {"b", 9}, {"c", 9, false, 1}});
  table.fit(40);
  EXPECT_EQ(display_width(table.row({"x", "1", "2", "3"})), 40u);
  EXPECT_EQ(table.header().find("  a"), std::string::npos) << table.header();
  EXPECT_NE(table.header().find("  c"), std::string::npos) << table.header();
  table.fit(25);
  EXPECT_LE(display_width(table.row({"x", "1", "2", "3"})), 25u);
  EXPECT_EQ(table.header().find("  c"), std::string::npos) << table.header();
  EXPECT_NE(table.header().find("  b"), std::string::npos) << table.header();
}

TEST(StreamedTable, NumbersAreNeverCut) {
  const StreamedTable table = table_of(10);
  EXPECT_NE(table.row({"a", "b", "1234567.8"}).find("1234567.8"), std::string::npos);
}

TEST(StreamedTable, AFileGetsWholeNames) {
  const std::string path(300, 'x');
  EXPECT_EQ(table_of(0).row({path, "b", "1"}).find(path), 0u);
}

TEST(CutMiddle, CountsCellsAndKeepsMarksWithTheirLetters) {
  EXPECT_EQ(cut_middle("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_middle("abcdef", 5), "ab…ef");
  EXPECT_EQ(cut_middle("abcdef", 1), "…");
  EXPECT_EQ(cut_middle("abcdef", 0), "");
  EXPECT_EQ(cut_middle("日本語の写真", 7), "日…真") << "each takes two cells";
  EXPECT_EQ(cut_middle("ae\u0301bcde\u0301f", 5), "ae\u0301…e\u0301f");
  for (size_t width = 0; width < 12; ++width) {
    EXPECT_LE(display_width(cut_middle("日本a語b\u0301の写c真", width)), width);
  }
}

}  // namespace
}  // namespace sact::cli
