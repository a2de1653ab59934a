// Tests of UTF-8 reading and of widths on a terminal.
#include "base/unicode.h"

#include <gtest/gtest.h>

namespace sact {
namespace {

std::u32string characters(std::string_view text) {
  std::u32string out;
  while (!text.empty()) out += next_character(text);
  return out;
}

TEST(Unicode, CharactersOfEveryLengthAreReadAndWrittenBack) {
  const std::string text = "A\u00b1\u03c1\u2013\u4e2d\U0001f600";
  EXPECT_EQ(characters(text), U"A\u00b1\u03c1\u2013\u4e2d\U0001f600");
  std::string again;
  for (const char32_t character : characters(text)) append_utf8(again, character);
  EXPECT_EQ(again, text);
}

TEST(Unicode, WhatIsNotUtf8CostsOneByteEach) {
  constexpr char32_t kBad = kReplacementCharacter;
  EXPECT_EQ(characters("\x80z"), (std::u32string{kBad, U'z'}));     // no lead byte
  EXPECT_EQ(characters("\xc0\xaf"), (std::u32string{kBad, kBad}));  // overlong '/'
  EXPECT_EQ(characters("\xe0\x80\xaf"), (std::u32string{kBad, kBad, kBad}));
  EXPECT_EQ(characters("\xed\xa0\x80"), (std::u32string{kBad, kBad, kBad}));  // surrogate
  EXPECT_EQ(characters("\xf4\x90\x80\x80"), (std::u32string{kBad, kBad, kBad, kBad}));
  EXPECT_EQ(characters("\xff"), (std::u32string{kBad}));
  EXPECT_EQ(characters("\xe2\x82"), (std::u32string{kBad, kBad}));  // cut off
  EXPECT_EQ(characters("\xc3(x"), (std::u32string{kBad, U'(', U'x'}));
}

TEST(Unicode, WidthCountsCellsAndNotBytes) {
  EXPECT_EQ(display_width("23.4 ± 1.2"), 10u);
  EXPECT_EQ(display_width("τ = 0.005, ρ"), 12u);
  EXPECT_EQ(display_width("中文"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // an accent of its own
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Unicode, ALongTextIsCutAtItsEnd) {
  EXPECT_EQ(cut_end("tabby cat", 9), "tabby cat");
  EXPECT_EQ(cut_end("tabby cat", 8), "tabby c…");
  EXPECT_EQ(cut_end("tabby cat", 7), "tabby…") << "no space before the ellipsis";
  EXPECT_EQ(cut_end("tabby cat", 1), "…");
  EXPECT_EQ(cut_end("tabby cat", 0), "");
  EXPECT_EQ(cut_end("中文中文", 5), "中文…") << "wide characters are not halved";
  EXPECT_EQ(cut_end("e\u0301e\u0301e\u0301", 2), "e\u0301…") << "an accent stays with its letter";
}

TEST(Unicode, OneLineWithoutControlCharacters) {
  EXPECT_EQ(single_line("a\nb\tc"), "a b c");
  EXPECT_EQ(single_line("\x1b[31mred"), "\ufffd[31mred");
  EXPECT_EQ(single_line("x\u009by"), "x\ufffdy");  // the one-byte form of ESC [
}

}  // namespace
}  // namespace sact
