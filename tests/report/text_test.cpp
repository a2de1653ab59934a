// Text of any script can be drawn, and widths mean what layouts take them for.
#include "report/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "report/canvas.h"
#include "report/samples.h"

namespace sact::report {
namespace {

io::RgbImage drawn(const std::string& text, const Font& font = {}, double max_width = kAnyWidth) {
  Canvas canvas(90, 40);
  canvas.text(15, 28, text, font, {0, 0, 0}, Align::kLeft, max_width);
  return canvas.image();
}

/// How dark the columns x0 ... x1 are.
int darkness(const io::RgbImage& image, int x0, int x1) {
  int sum = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = x0; x < x1; ++x) sum += 255 - image.pixel(x, y)[0];
  }
  return sum;
}

TEST(Text, LettersOfAnyScriptDrawSomethingAndSpaceNothing) {
  EXPECT_EQ(test::ink(drawn(" ")).width, -90) << "no ink";
  for (const char* text : {"A", "g", "ρ", "±", "−", "…", "é", "Ж", "ש", "ش", "漢", "😀"}) {
    EXPECT_GT(darkness(drawn(text), 0, 90), 300) << text;
  }
}

TEST(Text, CharactersLookDifferentAtCaptionSize) {
  const std::vector<std::string> all = {"0", "O", "1", "l", "8", "B", "5", "S", "6",
                                        "9", "ρ", "p", "×", "x", "−", "·", "…", "."};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(drawn(all[i], {12}).rgb, drawn(all[j], {12}).rgb) << all[i] << " and " << all[j];
    }
  }
}

TEST(Text, HebrewRunsFromRightToLeft) {
  // Shin is read last, so it stands on the left.
  const Font font{20};
  const io::RgbImage word = drawn("אש", font), shin = drawn("ש", font), alef = drawn("א", font);
  const int end = 15 + int(text_width("ש", font)) - 1;
  EXPECT_EQ(darkness(word, 15, end), darkness(shin, 15, end));
  EXPECT_NE(darkness(word, 15, end), darkness(alef, 15, end));
}

TEST(Text, ArabicLettersAreJoined) {
  const Font font{20};
  EXPECT_LT(text_width("ببب", font), 0.8 * (3 * text_width("ب", font)));
}

TEST(Text, ANameInAnotherDirectionLeavesTheSentenceAlone) {
  // The sentence still begins on the left: with the name, not with the class.
  const Font font{16};
  const double name = text_width("ששש", font);
  Canvas with(300, 30), alone(300, 30);
  with.text(10, 20, "ששש.jpg: cat", font, {0, 0, 0});
  alone.text(10, 20, "ששש", font, {0, 0, 0});
  for (int x = 10; x < 10 + int(name) - 2; ++x) {
    EXPECT_EQ(darkness(with.image(), x, x + 1), darkness(alone.image(), x, x + 1)) << x;
  }
}

TEST(Text, BrokenCharactersAreMarkedAndLinesJoined) {
  const io::RgbImage marked = drawn("\ufffd");
  for (const std::string text : {"\x7f", "\xff", "\xc3", "\x1b"}) {
    EXPECT_EQ(drawn(text).rgb, marked.rgb) << testing::PrintToString(text);
  }
  EXPECT_EQ(drawn("\xe2\x88").rgb, drawn("\ufffd\ufffd").rgb) << "a cut minus sign";
  EXPECT_EQ(drawn(std::string("a\0b", 3)).rgb, drawn("a\ufffd"
                                                     "b")
                                                   .rgb);
  EXPECT_EQ(drawn("a\nb").rgb, drawn("a b").rgb);
  EXPECT_LT(test::ink(drawn("a\u2029b")).height, 20) << "a mark between paragraphs";
}

TEST(Text, WidthsScaleWithSizeAndDigitsAreAllTheSame) {
  const Font font{13};
  EXPECT_NEAR(text_width("block 3 (23 units), mean 14.2", {26}),
              2 * text_width("block 3 (23 units), mean 14.2", font), 20);
  EXPECT_EQ(text_width("", font), 0);
  EXPECT_GT(text_width(" ", font), 0);
  EXPECT_GT(text_width("wide", {13, true}), text_width("wide", font));
  EXPECT_LT(text_width("i", font), 0.5 * text_width("m", font));
  for (char digit = '1'; digit <= '9'; ++digit) {
    EXPECT_DOUBLE_EQ(text_width(std::string(1, digit), font), text_width("0", font)) << digit;
  }
}

TEST(Text, CapitalsStandOnTheBaselineAndAreAsHighAsSaid) {
  for (const double size : {11.0, 12.0, 13.0, 14.0, 18.0}) {
    const Font font{size};
    const io::RgbImage image = drawn("H", font);
    int top = image.height, bottom = -1;
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        if (image.pixel(x, y)[0] > 128) continue;
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
    }
    EXPECT_EQ(bottom, 28) << "size " << size;
    EXPECT_NEAR(bottom - top + 1, cap_height(font), 1) << "size " << size;
    EXPECT_NEAR(cap_height(font), 0.73 * size, 1) << "size " << size;
  }
}

TEST(Text, WhatIsTooWideEndsWithAnEllipsis) {
  const Font font{13};
  const std::string text = "n02123045_1307.jpg: tabby, tabby cat (0.93)";
  const double whole = text_width(text, font);
  EXPECT_EQ(text_width(text, font, whole), whole);
  for (int width = 20; width < int(whole); width += 7) {
    EXPECT_LE(text_width(text, font, width), width);
    EXPECT_GT(text_width(text, font, width), width - 16) << "as much as fits";
  }
  EXPECT_EQ(drawn("tabby cat", font, text_width("tab…", font)).rgb, drawn("tab…", font).rgb);
}

TEST(Text, EveryThreadDrawsTheSame) {
  const io::RgbImage expected = drawn("τ = 0.01, Ж");
  std::vector<io::RgbImage> images(8);
  std::vector<std::thread> threads;
  for (io::RgbImage& image : images) {
    threads.emplace_back([&image] {
      for (int i = 0; i < 20; ++i) image = drawn("τ = 0.01, Ж");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const io::RgbImage& image : images) EXPECT_EQ(image.rgb, expected.rgb);
}

}  // namespace
}  // namespace sact::report
