// How numbers and foreign text are shown.
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sact {
namespace {

TEST(Text, GroupsDigitsByThree) {
  EXPECT_EQ(format_grouped(15602814976), "15 602 814 976");
  EXPECT_EQ(format_grouped(999), "999");
  EXPECT_EQ(format_grouped(1000), "1 000");
  EXPECT_EQ(format_grouped(-123456), "-123 456");
  EXPECT_EQ(format_grouped(-123), "-123");
}

TEST(Text, CountsInSingularAndPlural) {
  EXPECT_EQ(pluralize(1, "unit"), "1 unit");
  EXPECT_EQ(pluralize(0, "unit"), "0 units");
  EXPECT_EQ(pluralize(2, "class", "classes"), "2 classes");
  EXPECT_EQ(pluralize(1, "class", "classes"), "1 class");
}

TEST(Text, ScalesFlopsAndBytes) {
  EXPECT_EQ(format_flops(15602814976.0), "15.6 GFLOP");
  EXPECT_EQ(format_flops(999.6e9), "1 TFLOP");
  EXPECT_EQ(format_flops(0), "0 FLOP");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1000), "0.977 KiB");
  EXPECT_EQ(format_bytes(178196640), "170 MiB");
}

TEST(Text, DurationsChangeUnitsWithoutGaps) {
  EXPECT_EQ(format_duration(0.0123), "12.3 ms");
  EXPECT_EQ(format_duration(0.9999), "1 s");
  EXPECT_EQ(format_duration(12.34), "12.3 s");
  EXPECT_EQ(format_duration(185), "3 min 05 s");
  EXPECT_EQ(format_duration(7800), "2 h 10 min");
  EXPECT_EQ(format_duration(1.0 / 0.0), "?");
}

TEST(Text, ForeignTextCannotBreakALine) {
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a?b?[31m");
  const std::string cut = printable(std::string(1000, 'x'), 20);
  EXPECT_EQ(cut, "xxxxxxxxxx...xxxxxxxxxx");
}

TEST(Text, NothingThatATerminalObeysIsPrintable) {
  EXPECT_EQ(printable("a\x1b[31m\u009b\u202e\u2028\n\r\x7f b\x9b"), "a?[31m?????? b?");
  EXPECT_EQ(printable("\u00e9\u732b \ufffd"), "\u00e9\u732b \ufffd");
}

TEST(Text, LongTextIsCutBetweenCharacters) {
  const std::string four_bytes = "\xf0\x9f\x90\x88";  // a cat
  std::string text;
  for (int i = 0; i < 20; ++i) text += four_bytes;
  for (size_t length = 0; length < text.size(); ++length) {
    const std::string cut = printable(text, length);
    EXPECT_LE(cut.size(), length + 3);
    EXPECT_GE(cut.size() + 6, length) << "no more is left out than two parts of characters";
    const size_t dots = cut.find("...");
    ASSERT_NE(dots, cut.npos);
    EXPECT_EQ(cut.substr(0, dots), text.substr(0, dots / 4 * 4));
    EXPECT_EQ((cut.size() - dots - 3) % 4, 0u);
  }
  EXPECT_EQ(printable(std::string(30, '\x80'), 10).size(), 7u) << "bytes that are no text";
}

TEST(Text, ChoicesAreListed) {
  EXPECT_EQ(one_of({"a"}), "a");
  EXPECT_EQ(one_of({"a", "b"}), "a or b");
  EXPECT_EQ(one_of({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace sact
